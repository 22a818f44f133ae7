//! Each form is read, and what is wrong is told with its place.

use super::*;
use crate::workload::Source;

fn read(text: &str) -> Result<Vec<(u64, u32, u32)>, String> {
    let list = read_trace("t", text.as_bytes(), TraceOptions::default());
    list.map(|list| {
        list.0
            .iter()
            .map(|r| (r.arrival_ns, r.prompt_tokens, r.output_tokens))
            .collect()
    })
    .map_err(|error| error.to_string())
}

#[test]
fn azure_times_count_from_the_first() {
    let text = "TIMESTAMP,ContextTokens,GeneratedTokens\n\
                2023-11-16 18:17:03.9799600,4808,10\n2023-11-16 18:17:04.0319600,3180,8\n";
    let rows = read(text).unwrap();
    assert_eq!((rows[0], rows[1].1, rows[1].2), ((0, 4808, 10), 3180, 8));
    assert!(rows[1].0.abs_diff(52_000_000) < 200, "{rows:?}");
}

#[test]
fn lengths_and_our_own_csv_are_read_and_sorted() {
    let rows = read("arrival_s,input_toks,output_toks\r\n1.5,7,3\r\n1.0,5,2\r\n\r\n");
    assert_eq!(rows, Ok(vec![(0, 5, 2), (500_000_000, 7, 3)]));
    assert_eq!(read("prompt_tokens,output_tokens\n9,1\n"), Ok(vec![(0, 9, 1)]));
    let text = "{\"arrival_s\": 2.0, \"prompt_tokens\": 4, \"output_tokens\": 0, \"priority\": -1}\n";
    assert_eq!(read(text), Ok(vec![(0, 4, 0)]));
}

#[test]
fn mooncake_prompts_share_what_their_ids_share() {
    let text = "{\"timestamp\": 1000, \"input_length\": 700, \"output_length\": 5, \"hash_ids\": [0, 1]}\n\
                {\"timestamp\": 1250, \"input_length\": 1100, \"output_length\": 5, \"hash_ids\": [0, 2]}\n";
    let mut list = read_trace(
        "t",
        text.as_bytes(),
        TraceOptions {
            speedup: 2.0,
            limit: 9,
        },
    )
    .unwrap();
    let (a, b) = (list.pop().unwrap(), list.pop().unwrap());
    assert_eq!(b.arrival_ns, 125_000_000);
    let (a, b) = (a.content.unwrap(), b.content.unwrap());
    assert_eq!(a.prompt[0], b.prompt[0]);
    assert_eq!(a.prompt.iter().map(|run| run.len).collect::<Vec<_>>(), [512, 188]);
    assert_eq!(
        b.prompt.iter().map(|run| run.len).collect::<Vec<_>>(),
        [512, 512, 76]
    );
    assert_ne!(a.output, b.output);
}

#[test]
fn errors_name_file_line_and_field() {
    let cases = [
        ("a,b\n1,2\n", "t:1: header: has none of the columns prompt_tokens"),
        (
            "prompt_tokens,output_tokens\n1,2\n3\n",
            "t:3: line: has 1 fields and the header 2",
        ),
        (
            "prompt_tokens,output_tokens\n1,x\n",
            "t:2: output tokens: \"x\" is not a number",
        ),
        (
            "arrival_s,prompt_tokens,output_tokens\nNaN,1,2\n",
            "t:2: arrival: NaN is not a time",
        ),
        (
            "TIMESTAMP,ContextTokens,GeneratedTokens\nnoon,1,2\n",
            "t:2: TIMESTAMP: \"noon\" is not a time",
        ),
        (
            "{\"prompt_tokens\": 1, \"output_tokens\": 2}\n{]\n",
            "t:2: line: is not a JSON object",
        ),
        (
            "{\"prompt_tokens\": 1}\n",
            "t:1: output_tokens: is missing, and so is output_length",
        ),
        (
            "{\"input_length\": -1, \"output_length\": 1}\n",
            "t:1: input_length: -1 is not a number of tokens",
        ),
        (
            "{\"input_length\": 1, \"output_length\": 1, \"hash_ids\": 3}\n",
            "t:1: hash_ids: 3 is not a list",
        ),
    ];
    for (text, message) in cases {
        let error = read(text).unwrap_err();
        assert!(error.starts_with(message), "{error}");
    }
    let long = format!("{{\"x\": \"{}\"}}", "y".repeat(MAX_LINE_BYTES));
    assert_eq!(
        read(&long).unwrap_err(),
        "t:1: line: is longer than 1048576 bytes"
    );
}

/// The real traces, where they are at hand.
#[test]
fn public_traces_are_read_whole() {
    let Some(folder) = crate::testing::shared_data("workloads") else {
        return;
    };
    for (name, count, prompt, output) in [
        ("AzureLLMInferenceTrace_conv.csv", 19_366, 1154.7, 211.1),
        ("AzureLLMInferenceTrace_code.csv", 8_819, 2047.8, 27.9),
        ("mooncake_conversation_2000.jsonl", 2_000, 0.0, 0.0),
        ("sharegpt-llama-3.1-8b-300-sps10.lengths.csv", 300, 0.0, 0.0),
    ] {
        let file = std::io::BufReader::new(std::fs::File::open(folder.join(name)).unwrap());
        let list = read_trace(name, file, TraceOptions::default()).unwrap();
        assert_eq!(list.len(), count, "{name}");
        let mean =
            |f: fn(&Request) -> u32| list.0.iter().map(|r| f64::from(f(r))).sum::<f64>() / count as f64;
        if prompt > 0.0 {
            assert!(
                (mean(|r| r.prompt_tokens) - prompt).abs() < 0.1,
                "{}",
                mean(|r| r.prompt_tokens)
            );
            assert!(
                (mean(|r| r.output_tokens) - output).abs() < 0.1,
                "{}",
                mean(|r| r.output_tokens)
            );
        }
    }
}
