// The page: what is typed, what is suggested, how probable each word was, and what a word is made of.

const NUM_SUGGESTIONS = 5;
const SLICE_MS = 12; // reading a long text stops this often, so that keys are not held up
const byId = (id) => document.getElementById(id);
const megabytes = (bytes) => `${(bytes / 1e6).toFixed(bytes < 1e7 ? 2 : 0)} MB`;

// The sentence under way, word by word: the state and ln p of every next word after each of its words.
class Sentence {
  constructor(model) {
    this.model = model;
    this.words = [];
    this.states = [model.start()];
    this.nextLogProbs = model.logProbs(this.states[0]);
    this.logProbs = [];
  }

  // Goes on with the words for some milliseconds; true when all are read. Only what changed is read again.
  read(words, milliseconds) {
    let same = 0;
    while (same < this.words.length && this.words[same] === words[same]) same++;
    if (same < this.words.length) {
      this.words.length = this.logProbs.length = same;
      this.states.length = same + 1;
      this.nextLogProbs = this.model.logProbs(this.states[same]);
    }
    const began = performance.now();
    for (const word of words.slice(same)) {
      if (performance.now() - began > milliseconds) return false;
      const id = this.model.ids.get(word) ?? 0;
      this.logProbs.push(this.nextLogProbs[id]);
      this.words.push(word);
      this.states.push(this.model.feed(this.states[this.states.length - 1], id));
      this.nextLogProbs = this.model.logProbs(this.states[this.states.length - 1]);
    }
    return true;
  }
}

class Page {
  constructor(model) {
    this.model = model;
    this.sentence = new Sentence(model);
    this.times = [];
    this.box = byId("text");
    this.buttons = Array.from({ length: NUM_SUGGESTIONS }, (_, place) => this.makeButton(place));
    this.box.addEventListener("input", () => this.update());
    this.box.addEventListener("keydown", (event) => this.onKey(event));
    byId("close").addEventListener("click", () => this.closeExplanation());
    document.addEventListener("keydown", (event) => event.key === "Escape" && this.closeExplanation());
    byId("clear").addEventListener("click", () => this.setText(""));
    byId("size").textContent = megabytes(model.numBytes);
    byId("vocabulary").textContent = model.numWords.toLocaleString("en");
    byId("uncompressed").textContent = megabytes(FACTS.uncompressed_bytes);
    const perplexity = FACTS.perplexity;
    byId("perplexity").textContent = perplexity ? perplexity.toFixed(1) : "not measured";
    this.box.disabled = false;
    byId("status").textContent = "";
    this.box.focus();
    this.update();
  }

  makeButton(place) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "suggestion";
    button.addEventListener("click", () => this.take(place));
    byId("suggestions").append(button);
    return button;
  }

  onKey(event) {
    const digit = Number(event.code?.replace("Digit", ""));
    const atEnd = this.box.selectionStart === this.box.value.length;
    if (event.altKey && digit >= 1 && digit <= NUM_SUGGESTIONS) this.take(digit - 1);
    else if (event.key === "ArrowRight" && atEnd && this.box.value && !event.shiftKey) this.take(0);
    else return;
    event.preventDefault();
  }

  setText(text) {
    this.box.value = text;
    this.box.focus();
    this.box.setSelectionRange(text.length, text.length);
    this.update();
  }

  // Reads what is typed up to the cursor, and shows everything anew.
  update() {
    const began = performance.now();
    const text = this.box.value.slice(0, this.box.selectionEnd);
    const typed = typedSoFar(text, this.model.rules);
    if (!this.sentence.read(typed.words, SLICE_MS)) {
      cancelAnimationFrame(this.later);
      this.later = requestAnimationFrame(() => this.update());
      return;
    }
    const prefix = fold(typed.prefix, this.model.rules);
    const { ids, total } = this.model.best(this.sentence.nextLogProbs, prefix, NUM_SUGGESTIONS);
    this.suggestions = ids.map((id) => this.suggestion(id, typed, text, total));
    this.times.push(performance.now() - began);
    if (this.times.length > 200) this.times.shift();
    this.show(typed);
  }

  // A word as it would be written here; its probability is that among all words that begin as typed.
  suggestion(id, typed, text, total) {
    const word = this.model.words[id];
    const isFirst = !typed.words.length;
    let written = writeWord(word, isFirst);
    if (typed.prefix) written = typed.prefix + written.slice(typed.prefix.length);
    const blank = typed.prefix || !text || /\s$/.test(text) || !blankBetween(typed.words, word) ? "" : " ";
    const probability = Math.exp(this.sentence.nextLogProbs[id]) / total;
    return { written, insert: blank + written, prefix: typed.prefix, probability };
  }

  // Puts a suggestion in place of the letters under the cursor, with a blank behind it.
  take(place) {
    const suggestion = this.suggestions[place];
    if (!suggestion) return;
    const cursor = this.box.selectionEnd;
    let before = this.box.value.slice(0, cursor - suggestion.prefix.length);
    if (CLOSING.has(suggestion.written)) before = before.trimEnd();
    const behind = this.box.value.slice(cursor).replace(/^\s/, "");
    before += `${suggestion.insert} `;
    this.box.value = before + behind;
    this.box.focus();
    this.box.setSelectionRange(before.length, before.length);
    this.update();
  }

  show(typed) {
    this.buttons.forEach((button, place) => {
      const suggestion = this.suggestions[place];
      button.hidden = !suggestion;
      if (!suggestion) return;
      const percent = percentage(suggestion.probability);
      button.replaceChildren(part("b", suggestion.written), part("kbd", place + 1), part("small", percent));
      button.setAttribute("aria-label", `${suggestion.written}, ${percent}. Alt ${place + 1}`);
    });
    byId("none").hidden = this.suggestions.length > 0;
    byId("words").replaceChildren(...typed.words.map((word, place) => this.wordButton(word, this.sentence.logProbs[place], !place)));
    byId("hint").hidden = typed.words.length > 0;
    const sorted = [...this.times].sort((one, other) => one - other);
    byId("time").textContent = `${sorted[Math.floor(sorted.length / 2)].toFixed(1)} ms`;
    const { logProbs } = this.sentence;
    const mean = logProbs.reduce((sum, each) => sum + each, 0) / logProbs.length;
    byId("typed-perplexity").textContent = logProbs.length ? Math.exp(-mean).toLocaleString("en", { maximumSignificantDigits: 3 }) : "–";
  }

  wordButton(word, logProb, isFirst) {
    const button = part("button", writeWord(word, isFirst));
    const isKnown = this.model.ids.has(word);
    const percent = percentage(Math.exp(logProb));
    button.type = "button";
    button.className = isKnown ? "word" : "word unknown";
    // from 1 (ten bits of surprise or less cost little) to a full shade at a chance of one in a million
    button.style.setProperty("--surprise", Math.min(1, Math.max(0, -logProb / Math.log(1e6))).toFixed(3));
    button.title = isKnown ? percent : `not in the vocabulary; any unknown word: ${percent}`;
    button.setAttribute("aria-label", `${word}, ${button.title}. Show what it is made of`);
    button.addEventListener("click", () => this.explain(word, button));
    return button;
  }

  explain(word, origin) {
    this.origin = origin;
    const id = this.model.ids.get(word);
    const code = id === undefined ? null : this.model.explain(id);
    byId("explained").textContent = word;
    byId("explanation-text").textContent =
      id === undefined ? "Not in the vocabulary: the model reads it as an unknown word."
      : code ? `Number ${(id + 1).toLocaleString("en")} by frequency. The model stores it as a mix of ${code.length} common words:`
      : this.model.codes ? "A common word: the model stores it itself, and says rarer words with it."
      : "This model stores every word itself.";
    const largest = code ? code[0][1] : 1;
    byId("bars").replaceChildren(
      ...(code ?? []).map(([base, weight]) => {
        const bar = document.createElement("li");
        const line = part("span", "");
        line.className = "bar";
        line.style.setProperty("--share", (weight / largest).toFixed(3));
        bar.append(part("span", base), line, part("small", weight.toFixed(2)));
        return bar;
      }),
    );
    byId("explanation").hidden = false;
    byId("close").focus();
  }

  closeExplanation() {
    if (byId("explanation").hidden) return;
    byId("explanation").hidden = true;
    (this.origin?.isConnected ? this.origin : this.box).focus();
  }
}

function part(tag, text) {
  const element = document.createElement(tag);
  element.textContent = text;
  return element;
}

function percentage(probability) {
  const percent = 100 * probability;
  return percent < 0.01 ? "under 0.01 %" : `${percent.toLocaleString("en", { maximumSignificantDigits: 2 })} %`;
}

async function begin() {
  const coded = byId("model").textContent.trim();
  const bytes = Uint8Array.from(atob(coded), (letter) => letter.charCodeAt(0));
  byId("model").remove();
  window.page = new Page(await PackedModel.read(bytes.buffer));
}

begin().catch((error) => {
  byId("status").textContent = `The model could not be read: ${error.message}. A browser of 2023 or newer is needed.`;
});
