// The page: what is typed, what is suggested, how probable each word was, and what a word is made of.

const NUM_SUGGESTIONS = 5;
const SLICE_MS = 12; // reading a long text stops this often, so that keys are not held up
const PAUSE_MS = 800; // suggestions are read out when nothing was typed for so long
const MOST_SENTENCES = 10000; // whose scores are remembered
const [twoDigits, threeDigits] = [2, 3].map((digits) => new Intl.NumberFormat("en", { maximumSignificantDigits: digits }));
const byId = (id) => document.getElementById(id);
const megabytes = (bytes) => `${(bytes / 1e6).toFixed(bytes < 1e7 ? 2 : 0)} MB`;

// A sentence, word by word: the state and ln p of every next word after each of its words.
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
    this.rest = new Sentence(model); // the one among those before that is being read
    this.scores = new Map(); // ln p of the words of sentences
    this.shown = [];
    this.times = [];
    this.box = byId("text");
    this.buttons = Array.from({ length: NUM_SUGGESTIONS }, (_, place) => this.makeButton(place));
    for (const event of ["input", "selectionchange"]) {
      document.addEventListener(event, () => this.text !== this.textBefore() && this.update());
    }
    this.box.addEventListener("keydown", (event) => this.onKey(event));
    byId("close").addEventListener("click", () => this.closeExplanation());
    document.addEventListener("keydown", (event) => event.key === "Escape" && this.closeExplanation());
    byId("clear").addEventListener("click", () => this.setText(""));
    byId("size").textContent = megabytes(model.numBytes);
    byId("vocabulary").textContent = model.numWords.toLocaleString("en");
    byId("dense").textContent = megabytes(FACTS.dense_bytes);
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
    button.addEventListener("contextmenu", (event) => {
      event.preventDefault();
      this.explain(this.suggestions[place].word, button);
    });
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

  textBefore() {
    return this.box.value.slice(0, this.box.selectionEnd);
  }

  // Reads what is typed up to the cursor, and shows what is new.
  update() {
    this.began ??= performance.now();
    const text = this.textBefore();
    const typed = typedSoFar(text, this.model.rules);
    if (!this.sentence.read(typed.words, SLICE_MS)) return this.goOn(() => this.update());
    this.remember(typed.words, this.sentence.logProbs);
    const prefix = fold(typed.prefix, this.model.rules);
    const { ids, total } = this.model.best(this.sentence.nextLogProbs, prefix, NUM_SUGGESTIONS);
    this.suggestions = ids.map((id) => this.suggestion(id, typed, text, total));
    this.text = text;
    this.sentences = [...typed.finished, typed.words];
    this.show();
    this.times.push(performance.now() - this.began);
    this.began = null;
    if (this.times.length > 200) this.times.shift();
    const sorted = [...this.times].sort((one, other) => one - other);
    byId("time").textContent = `${sorted[Math.floor(sorted.length / 2)].toFixed(1)} ms`;
    clearTimeout(this.pause);
    this.pause = setTimeout(() => this.readOut(), PAUSE_MS);
    this.goOn(() => this.scoreRest());
  }

  goOn(work) {
    cancelAnimationFrame(this.later);
    this.later = requestAnimationFrame(work);
  }

  // Scores a sentence before the one under way that has no scores yet, the last first.
  scoreRest() {
    const words = this.sentences.findLast((each) => !this.scores.has(each.join(" ")));
    if (!words) return;
    if (this.rest.read(words, SLICE_MS)) {
      this.remember(words, this.rest.logProbs);
      this.showWords();
    }
    this.goOn(() => this.scoreRest());
  }

  remember(words, logProbs) {
    if (this.scores.size > MOST_SENTENCES) this.scores.clear();
    this.scores.set(words.join(" "), [...logProbs]);
  }

  // A word as it would be written here; its probability is that among all words that begin as typed.
  suggestion(id, typed, text, total) {
    const word = this.model.words[id];
    const isFirst = !typed.words.length;
    let written = writeWord(word, isFirst);
    if (typed.prefix) written = typed.prefix + written.slice(typed.prefix.length);
    const blank = typed.prefix || !text || /\s$/.test(text) || !blankBetween(typed.words, word) ? "" : " ";
    const probability = Math.exp(this.sentence.nextLogProbs[id]) / total;
    return { word, written, insert: blank + written, prefixLength: typed.prefixLength, probability };
  }

  // Puts a suggestion in place of the letters under the cursor, with a blank behind it.
  take(place) {
    const suggestion = this.suggestions[place];
    if (!suggestion || this.text !== this.textBefore()) return; // the second: a long text is still being read
    let before = this.text.slice(0, this.text.length - suggestion.prefixLength);
    if (CLOSING.has(suggestion.written)) before = before.trimEnd();
    const behind = this.box.value.slice(this.text.length).replace(/^\s/, "");
    before += `${suggestion.insert} `;
    this.box.value = before + behind;
    this.box.focus();
    this.box.setSelectionRange(before.length, before.length);
    this.update();
  }

  show() {
    this.buttons.forEach((button, place) => {
      const suggestion = this.suggestions[place];
      button.hidden = !suggestion;
      if (!suggestion) return;
      const percent = percentage(suggestion.probability);
      button.replaceChildren(part("b", suggestion.written), part("kbd", place + 1), part("small", percent));
      button.setAttribute("aria-label", `${suggestion.written}, ${percent}. Alt ${place + 1}`);
    });
    byId("none").hidden = this.suggestions.length > 0;
    this.showWords();
  }

  // The words before the cursor, each with its probability once its sentence is read; only what changed is made anew.
  showWords() {
    const words = this.sentences.flatMap((sentence) => {
      const scores = this.scores.get(sentence.join(" "));
      return sentence.map((word, place) => ({ word, isFirst: !place, logProb: scores?.[place] }));
    });
    let same = 0;
    while (same < words.length && words[same].word === this.shown[same]?.word && words[same].isFirst === this.shown[same].isFirst) same++;
    for (const { button } of this.shown.splice(same)) button.remove();
    words.forEach((each, place) => {
      const before = this.shown[place];
      each.button = before?.button ?? this.wordButton(each);
      each.logProb ??= before?.logProb;
      if (each.logProb !== before?.logProb) this.shade(each);
    });
    byId("words").append(...words.slice(same).map(({ button }) => button));
    this.shown = words;
    const logProbs = words.map(({ logProb }) => logProb).filter((logProb) => logProb !== undefined);
    const perplexity = Math.exp(-logProbs.reduce((sum, each) => sum + each, 0) / logProbs.length);
    byId("hint").textContent = logProbs.length
      ? `Their perplexity: ${threeDigits.format(perplexity)}.`
      : "Nothing yet.";
  }

  wordButton({ word, isFirst }) {
    const button = part("button", writeWord(word, isFirst));
    button.type = "button";
    button.className = this.model.ids.has(word) ? "word" : "word unknown";
    button.addEventListener("click", () => this.explain(word, button));
    return button;
  }

  // A full shade is a chance of one in a million.
  shade({ word, button, logProb }) {
    const percent = percentage(Math.exp(logProb));
    button.style.setProperty("--surprise", Math.min(1, -logProb / Math.log(1e6)).toFixed(3));
    button.title = this.model.ids.has(word) ? percent : `not in the vocabulary; any unknown word: ${percent}`;
    button.setAttribute("aria-label", `${word}, ${button.title}. Show what it is made of`);
  }

  // For screen readers, in a pause, because a region that changes with every key would never fall silent.
  readOut() {
    const written = this.suggestions.map((each) => each.written).join(", ");
    byId("spoken").textContent = written ? `Suggestions: ${written}` : "No word begins so";
  }

  explain(word, origin) {
    this.origin = origin;
    const id = this.model.ids.get(word);
    const code = id === undefined ? null : this.model.explain(id);
    byId("explained").textContent = word;
    byId("explanation-text").textContent =
      id === undefined ? "Not in the vocabulary: the model reads it as an unknown word."
      : code ? `Number ${(id + 1 - NUM_SPECIAL).toLocaleString("en")} by frequency. The model stores it as a mix of ${code.length} common words:`
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
    const hadFocus = byId("explanation").contains(document.activeElement);
    byId("explanation").hidden = true;
    if (hadFocus) (this.origin.offsetParent ? this.origin : this.box).focus(); // the box, if the word is gone
  }
}

function part(tag, text) {
  const element = document.createElement(tag);
  element.textContent = text;
  return element;
}

function percentage(probability) {
  const percent = 100 * probability;
  return percent < 0.01 ? "under 0.01 %" : `${twoDigits.format(percent)} %`;
}

async function begin() {
  const coded = byId("model").textContent.trim();
  const bytes = Uint8Array.from(atob(coded), (letter) => letter.charCodeAt(0));
  byId("model").remove();
  window.page = new Page(await PackedModel.read(bytes.buffer));
}

begin().catch((error) => {
  byId("status").textContent = `The model could not be read: ${error.message}. A browser of May 2023 or newer is needed.`;
});
