"""Sentences spoken by espeak-ng and written down by pocketsphinx, as n-best lists that `fewwords rescore` reads."""

import json
import math
import shutil
import subprocess
import tempfile
import wave
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

from fewwords.corpus import TokenCorpus
from fewwords.text.join import join_words
from fewwords.use.nbest import Hypothesis, NBest, read_lists
from fewwords.use.rescore import read_reference

NUM_BEST, MOST_PATHS = 50, 2_000
VOICES = ("en-us+f5", "en-us+f2", "en-us+klatt2", "en-us+f1")  # pocketsphinx's models are of American English
SPEEDS = (130, 150)  # words per minute
NOISES = (0.0, 0.005, 0.015)  # of full scale; speech reaches 0.7
FEWEST_WORDS, MOST_WORDS = 5, 25


@dataclass(frozen=True)
class Speech:
    """A sentence to be spoken: `said` are the words that a recogniser should write."""

    name: str
    text: str
    said: tuple[str, ...]


def choose_sentences(corpus: TokenCorpus, part: str, number: int) -> Iterator[Speech]:
    """The first sentences of a shuffled part that have only words that the recogniser can write."""

    def known(word: str) -> bool:
        return word.replace("'", "").isalpha() and recogniser().lookup_word(word) is not None

    words = corpus.vocabulary()
    texts = (join_words(words.decode(ids)) for ids in corpus.part(part).sentences())
    spoken = ((text, spoken_words(text)) for text in texts)
    fitting = (each for each in spoken if FEWEST_WORDS <= len(each[1]) <= MOST_WORDS and all(map(known, each[1])))
    for place, (text, said) in enumerate(islice(fitting, number)):
        yield Speech(f"{part}-{place:03}", text, said)


def spoken_words(text: str) -> tuple[str, ...]:
    """The words of a text as a recogniser writes them: lower case, hyphens apart, without marks."""
    chunks = (chunk.strip(",.!?;:()[]\"'") for chunk in text.lower().replace("-", " ").split())
    return tuple(chunk for chunk in chunks if chunk)


@cache
def recogniser() -> Any:
    """Pocketsphinx with its own models; a narrower search than its default, which is faster and was as good on trial,"""
    from pocketsphinx import Decoder

    return Decoder(loglevel="FATAL", cmn="batch", maxhmmpf=5_000)


def speak(speech: Speech, place: int, path: Path) -> None:
    """Write a sentence as 16 kHz sound, in a voice, at a speed and with noise that its place decides."""
    voice, speed = VOICES[place % len(VOICES)], SPEEDS[place // len(VOICES) % len(SPEEDS)]
    noise = NOISES[place // (len(VOICES) * len(SPEEDS)) % len(NOISES)]
    with tempfile.TemporaryDirectory() as name:
        raw, clean, hiss = (Path(name) / part for part in ("raw.wav", "clean.wav", "hiss.wav"))
        form = ["-r", "16000", "-c", "1", "-b", "16"]
        run("espeak-ng", "-v", voice, "-s", speed, "-w", raw, speech.text)
        run("sox", "-R", raw, *form, clean, "norm", "-3", "pad", "0.3", "0.3")
        if noise:
            run("sox", "-R", clean, hiss, "synth", "whitenoise", "vol", noise)
            run("sox", "-R", "-m", "-v", "1", clean, "-v", "1", hiss, *form, path)
        else:
            shutil.copyfile(clean, path)


def run(*command: object) -> None:
    """Run a program."""
    subprocess.run([str(part) for part in command], check=True, stderr=subprocess.DEVNULL)


def recognise(name: str, sound: Path) -> list[str]:
    """JSON lines of what pocketsphinx writes and its next best hypotheses, by its own score.

    `score` is its log10 score of sound and trigram together, `trigram` log10 p of its trigram, which counts `bestpathlw` times.
    """
    decoder = recogniser()
    with wave.open(str(sound)) as file:
        samples = file.readframes(file.getnframes())
    decoder.start_utt()
    decoder.process_raw(samples, full_utt=True)
    decoder.end_utt()
    scores: dict[str, float] = {}
    for found in islice(decoder.nbest(), MOST_PATHS):
        if found is None or len(scores) == NUM_BEST:
            break
        # paths with other pronunciations or silences have the same words; the sums are kept in 1/1024 of a log
        score = math.log10(found.score) * 1024
        scores[found.hypstr] = max(score, scores.get(found.hypstr, -math.inf))
    return list_lines(name, decoder.hyp().hypstr, scores) if scores else []


def list_lines(name: str, result: str, scores: dict[str, float]) -> list[str]:
    """The lines of a list: the result first, which comes from another search and often is not among the rest.

    Its score cannot be had in the same measure; where the rest has not got it, it has the score of the best.
    """
    scores = {result: scores.get(result, max(scores.values())), **scores}
    ordered = sorted(scores, key=lambda text: (text != result, -scores[text]))[:NUM_BEST]
    return [
        json.dumps({"utterance": name, "text": text, "score": scores[text], "trigram": trigram_score(text.split())})
        for text in ordered
    ]


def trigram_score(words: Sequence[str]) -> float:
    """log10 p of a sentence by pocketsphinx's own trigram."""
    model = recogniser().get_lm("_default")
    line = ["<s>", *words, "</s>"]
    # the word comes first, then those before it, the nearest first
    total = sum(model.prob(line[max(0, place - 2) : place + 1][::-1]) for place in range(1, len(line)))
    return float(recogniser().get_logmath().log_to_log10(total))


def make_list(speech: Speech, place: int, folder: Path, sound: Path | None = None) -> None:
    """Speak a sentence and recognise it, unless that was done before."""
    path = folder / f"{speech.name}.json"
    if path.exists():
        return
    with tempfile.TemporaryDirectory() as name:
        if sound is None:
            sound = Path(name) / "sound.wav"
            speak(speech, place, sound)
        lines = recognise(speech.name, sound)
    path.write_text(json.dumps({"said": " ".join(speech.said), "list": lines}))


@dataclass(frozen=True)
class Lists:
    """N-best lists, the recogniser's own result first, and what was said by utterance."""

    lists: list[NBest]
    said: dict[str, str]

    def without_trigram(self, share: float) -> list[NBest]:
        """The lists with a share of the recogniser's own trigram taken out of their scores."""
        weight = share * recogniser().config["bestpathlw"]
        return [
            NBest(
                each.utterance,
                tuple(
                    Hypothesis(found.text, found.acoustic - weight * found.facts["trigram"])
                    for found in each.hypotheses
                ),
            )
            for each in self.lists
        ]


def make_lists(part: str, speeches: Sequence[Speech], folder: Path, jobs: int, sounds: Sequence[Path] = ()) -> Lists:
    """Lists of all sentences of a part, as files of `fewwords rescore` too: `PART.jsonl` and `PART.ref`."""
    pieces = folder / part
    pieces.mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(jobs) as pool:
        waiting = [
            pool.submit(make_list, speech, place, pieces, sounds[place] if sounds else None)
            for place, speech in enumerate(speeches)
        ]
        for each in waiting:
            each.result()
    found = {speech.name: json.loads((pieces / f"{speech.name}.json").read_text()) for speech in speeches}
    found = {name: facts for name, facts in found.items() if facts["list"]}
    lines = [line for facts in found.values() for line in facts["list"]]
    reference = [f"{name} {facts['said']}" for name, facts in found.items()]
    (folder / f"{part}.jsonl").write_text("\n".join(lines) + "\n")
    (folder / f"{part}.ref").write_text("\n".join(reference) + "\n")
    return Lists(read_lists(lines, part)[1], read_reference(reference, part))


def read_real(folder: Path) -> tuple[list[Speech], list[Path]]:
    """The utterances of pocketsphinx-testdata and their sounds."""
    lines = (folder / "transcription").read_text().splitlines()
    said = {line.split()[-1].strip("()"): tuple(line.split()[1:-2]) for line in lines}
    return [Speech(name, "", words) for name, words in said.items()], [folder / f"{name}.wav" for name in said]
