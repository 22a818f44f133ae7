"""`/v1` as OpenAI's own Python package sees it: completions, chats, streams, errors."""

import os
import subprocess

import openai
import pytest
import tokenizers
from tokenizers import decoders, models, pre_tokenizers, processors

from conftest import TOKEN, App, wait_for

H100 = "sample__facebook_opt-125m__h100-e2e"
A100 = "sample__facebook_opt-125m__a100-e2e"
MODEL = "facebook/opt-125m"
GPU = {"gpu_config": "SM90_H100"}


def opt_tokenizer():
    """Byte-level BPE with OPT's BOS, made to read `Hello, my name is` as five tokens."""
    words = ["Hello", ",", "Ġmy", "Ġname", "Ġis"]
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    vocab = {token: i for i, token in enumerate(special + sorted(pre_tokenizers.ByteLevel.alphabet()))}
    merges = []
    for word in words:
        for end in range(2, len(word) + 1):
            if word[:end] not in vocab:
                vocab[word[:end]] = len(vocab)
                merges.append((word[: end - 1], word[end - 1]))
    tokenizer = tokenizers.Tokenizer(models.BPE(vocab=vocab, merges=merges))
    tokenizer.add_special_tokens(special)
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.TemplateProcessing(single="</s> $A", special_tokens=[("</s>", 2)])
    return tokenizer


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """An app with the samples, and where it looks for tokenizers."""
    folder = tmp_path_factory.mktemp("openai")
    app = App(folder / "data", env={"CASCADE_SAMPLES": "true", "CASCADE_TOKENIZERS": str(folder / "tokenizers")})
    wait_for(lambda: len(app.get("/api/traces")) == 2, what="samples")
    yield app, folder / "tokenizers"
    app.stop()


@pytest.fixture(scope="module")
def client(served):
    return openai.OpenAI(base_url=f"{served[0].url}/v1", api_key=TOKEN, max_retries=0)


@pytest.fixture(scope="module")
def tokenizer(served):
    """Puts the model's tokenizer in place; tests that need none come before."""
    tokenizer = opt_tokenizer()
    home = served[1] / MODEL
    home.mkdir(parents=True)
    tokenizer.save(str(home / "tokenizer.json"))
    return tokenizer


def complete(client, **more):
    body = {"model": H100, "prompt": "Hello, my name is", "max_tokens": 32, "seed": 42, "extra_body": GPU, **more}
    return client.completions.create(**body)


def near(found, published):
    assert abs(found / published - 1) < 0.0005, f"{found}, published {published}"


def test_without_a_tokenizer_a_quarter_of_the_bytes_counts(client):
    answer = complete(client)
    assert answer.usage.prompt_tokens == 5
    assert answer.cascade["prompt_tokens_source"] == "estimated:utf8-bytes/4"
    assert answer.cascade["text_source"] == "placeholder"
    assert all(word.startswith("tok") for word in answer.choices[0].text.split(" "))


def test_models_are_listed_and_found(client):
    models = list(client.models.list())
    assert {model.id for model in models} == {H100, A100, MODEL}
    for model in models:
        assert client.models.retrieve(model.id) == model


def test_a_completion_has_the_published_times(client, tokenizer):
    answer = complete(client)
    assert answer.object == "text_completion" and answer.choices[0].finish_reason == "length"
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens, answer.usage.total_tokens) == (6, 32, 38)
    timing = answer.cascade["timing"]
    near(timing["ttft_ms"], 8.946)
    near(timing["mean_itl_ms"], 8.125)
    near(timing["e2e_ms"], 260.593)
    assert answer.cascade["prompt_tokens_source"] == "tokenizer"
    assert answer.cascade["profile_match"] is True and answer.cascade["text_is_semantic"] is False
    near(answer.cascade["profiled"]["mean"]["e2e_ms"]["real"], 254.45)
    other = complete(client, model=A100, extra_body={"gpu_config": "SM80_A100"}).cascade["timing"]
    near(other["e2e_ms"], 229.340)


def test_counts_are_the_tokenizers_own(client, tokenizer):
    for prompt in ["Hello", "Hello, my name is  Ünïcödé\n\n", "a </s> b", "x" * 300]:
        answer = complete(client, prompt=prompt, max_tokens=1)
        ids = tokenizer.encode(prompt).ids
        assert answer.usage.prompt_tokens == len(ids), prompt
        assert complete(client, prompt=ids, max_tokens=1).usage.prompt_tokens == len(ids)
    answer = complete(client, prompt=["Hello", "Hello, my"], n=2, max_tokens=3, echo=True)
    assert [choice.text[:5] for choice in answer.choices] == ["Hello"] * 4
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens) == (2 + 4, 4 * 3)


def test_a_seed_decides_the_text(client, tokenizer):
    first = complete(client).choices[0].text
    assert complete(client, temperature=0, top_p=0.5, stop=["a"]).choices[0].text == first
    assert complete(client, seed=43).choices[0].text != first
    drawn = complete(client, seed=None)
    assert complete(client, seed=drawn.cascade["seed"]).choices[0].text == drawn.choices[0].text


def test_a_stream_is_the_same_answer_in_pieces(client, tokenizer):
    whole = complete(client)
    chunks = list(complete(client, stream=True, stream_options={"include_usage": True}))
    assert "".join(choice.text for chunk in chunks for choice in chunk.choices) == whole.choices[0].text
    assert chunks[-1].usage == whole.usage and chunks[-1].choices == []
    assert chunks[-1].cascade == chunks[-2].cascade == whole.cascade
    assert chunks[-2].choices[0].finish_reason == "length"


def test_chats_and_their_streams(client, tokenizer):
    def chat(**more):
        messages = [{"role": "system", "content": "Hello"}, {"role": "user", "content": [{"type": "text", "text": " my"}]}]
        return client.chat.completions.create(
            model=MODEL, messages=messages, max_completion_tokens=8, seed=1, extra_body=GPU, **more
        )

    whole = chat()
    assert whole.choices[0].message.role == "assistant"
    assert whole.cascade["prompt_tokens_source"] == "tokenizer:joined"
    assert whole.usage.prompt_tokens == len(tokenizer.encode("Hello\n my").ids)
    with client.chat.completions.with_streaming_response.create(
        model=MODEL, messages=[{"role": "user", "content": "Hello"}], extra_body=GPU, stream=True
    ) as raw:
        lines = [line for line in raw.iter_lines() if line]
    assert lines[-1] == "data: [DONE]" and all(line.startswith(("data: ", ": ")) for line in lines)
    chunks = list(chat(stream=True))
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == whole.choices[0].message.content
    assert chunks[0].choices[0].delta.role == "assistant"
    assert chunks[-1].cascade == whole.cascade


def test_each_error_raises_its_exception(client, served):
    def error(kind, code, **more):
        with pytest.raises(kind) as raised:
            complete(client, **more)
        assert raised.value.code == code, raised.value
        return raised.value

    error(openai.NotFoundError, "model_not_found", model="none")
    error(openai.UnprocessableEntityError, "architecture_mismatch", extra_body={"gpu_config": "SM80_A100"})
    error(openai.UnprocessableEntityError, "unsupported_gpu_config", extra_body={"gpu_config": "SM86_RTX3070"})
    too_long = error(openai.BadRequestError, "context_length_exceeded", max_tokens=2100)
    assert "2048" in too_long.message and too_long.param == "max_tokens"
    error(openai.BadRequestError, "context_length_exceeded", max_tokens=2100, stream=True)
    error(openai.BadRequestError, "invalid_value", logprobs=3)
    error(openai.BadRequestError, "invalid_value", extra_body={**GPU, "max_completion_tokens": 4})
    stranger = openai.OpenAI(base_url=f"{served[0].url}/v1", api_key="wrong", max_retries=0)
    for call in [lambda: complete(stranger), lambda: list(stranger.models.list())]:
        with pytest.raises(openai.AuthenticationError):
            call()
    with pytest.raises(openai.NotFoundError):
        client.embeddings.create(model=MODEL, input="x")


def test_a_base_that_takes_too_long_is_not_asked_for_again(tmp_path):
    """The client's own retries would launch a run each."""
    folder = tmp_path / "trace"
    command = [os.environ["CASCADE_BIN"], "trace", "synth", "--model-like", "opt-125m", "--steps", "1", "--arch", "sm_90"]
    subprocess.run([*command, "-o", str(folder)], check=True, timeout=120)
    app = App(tmp_path / "data", env={"CASCADE_OPENAI_WAIT_S": "1", "CASCADE_SIM_CMD": "sleep 30"})
    try:
        app.cli("upload", folder, "--run-name", "slow")
        app.wait_ready("slow")
        with pytest.raises(openai.InternalServerError) as raised:
            complete(openai.OpenAI(base_url=f"{app.url}/v1", api_key=TOKEN), model="slow")
        assert raised.value.status_code == 504 and raised.value.code == "base_sim_timeout"
        assert len(app.get("/api/runs")) == 1
    finally:
        app.stop()
