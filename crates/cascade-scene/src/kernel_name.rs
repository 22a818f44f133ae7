//! Kernel names made readable: the function's own name instead of a mangled or templated one.
//!
//! Not a demangler: it finds the names inside an Itanium-mangled symbol
//! (<https://itanium-cxx-abi.github.io/cxx-abi/abi.html#mangling>) or a demangled signature and drops the rest.
//! A symbol it cannot follow is shown as it is. Pages keep the full name beside the short one.

/// Functions that only wrap what a template argument names: the argument alone says more.
const WRAPPERS: [&str; 4] = ["Kernel", "Kernel2", "device_kernel", "kernel"];
/// Functions whose work is a template argument: shown as `function<argument>`.
const GENERIC: [&str; 4] = [
    "elementwise_kernel",
    "reduce_kernel",
    "kernel_impl",
    "index_kernel",
];
/// Component of an anonymous namespace, mangled.
const ANONYMOUS: &str = "_GLOBAL__N_1";

/// The short name of a kernel: `_Z11init_kernelIdEvPT_S1_` becomes `init_kernel`,
/// `void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, …>(…)` becomes
/// `vectorized_elementwise_kernel<CUDAFunctor_add>`.
pub fn readable(name: &str) -> String {
    let found = match name.strip_prefix("_Z") {
        Some(symbol) => mangled(symbol),
        None => demangled(name),
    };
    match found {
        Some((function, argument)) => join(function, argument),
        None => name.to_owned(),
    }
}

/// The function and, where it matters, what it works with.
fn join(function: &str, argument: Option<&str>) -> String {
    match argument {
        Some(argument) if WRAPPERS.contains(&function) => argument.to_owned(),
        Some(argument) if GENERIC.iter().any(|end| function.ends_with(end)) => {
            format!("{function}<{argument}>")
        }
        _ => function.to_owned(),
    }
}

/// Function name and first named template argument of a symbol without its `_Z`.
fn mangled(symbol: &str) -> Option<(&str, Option<&str>)> {
    let mut rest = symbol.trim_start_matches('L');
    let nested = rest.starts_with('N');
    if nested {
        rest = rest.trim_start_matches(['N', 'K', 'V', 'r']);
    }
    let mut function = None;
    loop {
        let first = rest.chars().next();
        match first {
            Some('0'..='9') => {
                let (name, after) = source_name(rest)?;
                if name != ANONYMOUS {
                    function = Some(name);
                }
                rest = after;
            }
            Some('S') => rest = substitution(rest),
            Some('L') => rest = rest.get(1..)?,
            Some('I') => return Some((function?, argument_name(rest.get(1..)?))),
            _ => return Some((function?, None)),
        }
        if !nested && function.is_some() && !rest.starts_with('I') {
            return Some((function?, None));
        }
    }
}

/// A length and a name of that length: `11init_kernel…`.
fn source_name(text: &str) -> Option<(&str, &str)> {
    let digits = text.find(|c: char| !c.is_ascii_digit())?;
    let length: usize = text.get(..digits)?.parse().ok()?;
    let name = text.get(digits..)?.get(..length)?;
    Some((name, text.get(digits + length..)?))
}

/// What follows `S_`, `S0_`, `St` and the like.
fn substitution(text: &str) -> &str {
    let after = text.get(1..).unwrap_or_default();
    match after.find('_') {
        Some(end)
            if after
                .chars()
                .take(end)
                .all(|c| c.is_ascii_digit() || c.is_ascii_uppercase()) =>
        {
            after.get(end + 1..).unwrap_or_default()
        }
        _ => after.get(1..).unwrap_or_default(),
    }
}

/// The last component of the first class name among template arguments; literals and built-in types are passed
/// over.
fn argument_name(mut rest: &str) -> Option<&str> {
    loop {
        match rest.chars().next()? {
            '0'..='9' => return source_name(rest).map(|(name, _)| name),
            'N' => {
                let mut last = None;
                rest = rest.get(1..)?;
                loop {
                    match rest.chars().next() {
                        Some('0'..='9') => {
                            let (name, after) = source_name(rest)?;
                            if name != ANONYMOUS {
                                last = Some(name);
                            }
                            rest = after;
                        }
                        Some('S') => rest = substitution(rest),
                        _ => return last,
                    }
                }
            }
            // `Li4E`, `Lb1E`: a literal.
            'L' => rest = rest.get(rest.find('E')? + 1..)?,
            'S' => rest = substitution(rest),
            'E' => return None,
            other => rest = rest.get(other.len_utf8()..)?,
        }
    }
}

/// Function name and first named template argument of `void a::b<4, c::d<float>>(int)`.
fn demangled(name: &str) -> Option<(&str, Option<&str>)> {
    let open = name.find(['<', '(']).unwrap_or(name.len());
    let function = last_component(name.get(..open)?);
    let arguments = name.get(open..).and_then(|rest| rest.strip_prefix('<'));
    let argument = arguments.and_then(|arguments| {
        top_level(arguments)
            .map(|part| {
                part.get(..part.find(['<', '(']).unwrap_or(part.len()))
                    .unwrap_or(part)
                    .trim()
            })
            .find(|part| part.contains("::") || part.contains('_'))
            .map(last_component)
    });
    (!function.is_empty()).then_some((function, argument.filter(|a| !a.is_empty())))
}

/// The parts of `text` between commas that lie outside any brackets, up to the bracket that closes it.
fn top_level(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_i32;
    let end = text
        .char_indices()
        .find(|(_, c)| {
            depth += i32::from(matches!(c, '<' | '(')) - i32::from(matches!(c, '>' | ')'));
            depth < 0
        })
        .map_or(text.len(), |(i, _)| i);
    let mut depth = 0_i32;
    text.get(..end).unwrap_or(text).split(move |c: char| {
        depth += i32::from(matches!(c, '<' | '(')) - i32::from(matches!(c, '>' | ')'));
        c == ',' && depth == 0
    })
}

/// `float4` of `void a::b::float4`.
fn last_component(path: &str) -> &str {
    path.rsplit([':', ' ', '*', '&'])
        .find(|part| !part.is_empty())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests;
