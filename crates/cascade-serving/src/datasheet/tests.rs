//! Tests of the table of GPUs and of efficiencies.

use super::*;

#[test]
fn the_table_is_sorted_and_passes_its_own_checks() {
    let names: Vec<_> = datasheets().map(|sheet| sheet.gpu).collect();
    assert!(names.is_sorted() && names.len() > 10);
    for sheet in datasheets() {
        sheet.check().unwrap();
        // CUDA reports less than is built in, never more.
        let cuda = sheet.cuda_memory_gib.unwrap_or(0.0) * GIB;
        assert!(cuda < sheet.memory_gb * 1.075e9, "{}", sheet.gpu);
    }
}

#[test]
fn the_products_three_gpus_have_the_values_it_states() {
    let row = |gpu| datasheet(gpu).map(|s| (s.compute_tflops, s.bandwidth_tbs, s.memory_gb));
    assert_eq!(row("SM90_H100"), Some((989.0, 3.35, 80.0)));
    assert_eq!(row("SM90_H200"), Some((989.0, 4.8, 141.0)));
    assert_eq!(row("SM80_A100"), Some((312.0, 2.039, 80.0)));
    assert_eq!(row("SM1_X"), None);
}

#[test]
fn what_cannot_be_is_refused() {
    let mut sheet = datasheet("SM90_H100").unwrap();
    sheet.bandwidth_tbs = f64::NAN;
    assert!(
        sheet
            .check()
            .unwrap_err()
            .to_string()
            .contains("bandwidth_tbs is NaN")
    );
    let mut efficiency = Efficiency::default();
    efficiency.check().unwrap();
    efficiency.compute.high = 1.1;
    assert!(
        efficiency
            .check()
            .unwrap_err()
            .to_string()
            .starts_with("compute efficiency 0.5..0.7..1.1")
    );
}
