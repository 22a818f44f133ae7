try {
  const theme = localStorage.getItem("cascade-theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {}
