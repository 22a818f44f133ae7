//! The design system: small components that all pages share. Their looks live in `style/`.

mod icon;

pub use icon::{Icon, IconName};
