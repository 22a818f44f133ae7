//! Least squares with coefficients that are not negative: no work takes less than no time.

/// Coefficients sought.
pub(super) const UNKNOWNS: usize = 4;

/// The coefficients ≥ 0 with the least sum of squared differences. With so few unknowns every set of those
/// that are not 0 can be tried.
pub(super) fn nonnegative(rows: &[([f64; UNKNOWNS], f64)]) -> [f64; UNKNOWNS] {
    let mut best = ([0.0; UNKNOWNS], f64::INFINITY);
    for set in 1_u32..1 << UNKNOWNS {
        let used: Vec<usize> = (0..UNKNOWNS).filter(|i| set >> i & 1 == 1).collect();
        let Some(found) = solve(rows, &used).filter(|found| found.iter().all(|x| *x >= 0.0)) else {
            continue;
        };
        let squares = rows.iter().map(|(work, time)| {
            let predicted: f64 = work.iter().zip(found).map(|(w, x)| w * x).sum();
            (predicted - time).powi(2)
        });
        let sum = squares.sum();
        if sum < best.1 {
            best = (found, sum);
        }
    }
    best.0
}

/// Solves the normal equations of the unknowns `used`, scaled by their size, by Gauss-Jordan elimination with
/// row pivots.
/// None if they do not tell the unknowns apart.
fn solve(rows: &[([f64; UNKNOWNS], f64)], used: &[usize]) -> Option<[f64; UNKNOWNS]> {
    let n = used.len();
    let scale: Vec<f64> = used
        .iter()
        .map(|i| {
            rows.iter()
                .map(|(work, _)| work[*i] * work[*i])
                .sum::<f64>()
                .sqrt()
        })
        .collect();
    if scale.contains(&0.0) {
        return None;
    }
    let mut system = [[0.0; UNKNOWNS + 1]; UNKNOWNS];
    for (work, time) in rows {
        for a in 0..n {
            let x = work[used[a]] / scale[a];
            for b in 0..n {
                system[a][b] += x * work[used[b]] / scale[b];
            }
            system[a][UNKNOWNS] += x * time;
        }
    }
    for column in 0..n {
        let pivot =
            (column..n).max_by(|a, b| system[*a][column].abs().total_cmp(&system[*b][column].abs()))?;
        if system[pivot][column].abs() < 1e-12 {
            return None;
        }
        system.swap(column, pivot);
        let row = system[column].map(|x| x / system[column][column]);
        system[column] = row;
        for (index, other) in system.iter_mut().enumerate().take(n) {
            if index != column {
                let factor = other[column];
                other.iter_mut().zip(row).for_each(|(x, y)| *x -= factor * y);
            }
        }
    }
    let mut found = [0.0; UNKNOWNS];
    for (index, unknown) in used.iter().enumerate() {
        found[*unknown] = system[index][UNKNOWNS] / scale[index];
    }
    Some(found)
}
