// Text as the model's corpus was cut into words (fewwords/text in Python), and words back to text.
// TEXT_LISTS is written before this file: the lists of fewwords/text/abbreviations.py and join.py.

const MOST_CHARACTERS = 6000; // of the text before the cursor that are read
const MOST_CHUNKS = 20000;
const cutChunks = new Map();
const LETTER = "[\\p{L}\\p{N}\\p{M}]";
const WORD = new RegExp(
  [
    '(?:https?|ftp)://[^\\s<>"]*[\\p{L}\\p{N}_/]',
    'www\\.[^\\s<>"]*[\\p{L}\\p{N}_/]',
    "[\\p{L}\\p{N}_.+\\-]{0,63}[\\p{L}\\p{N}_]@[\\p{L}\\p{N}_][\\p{L}\\p{N}_\\-]*(?:\\.[\\p{L}\\p{N}_][\\p{L}\\p{N}_\\-]*)+",
    `\\p{L}(?:\\.\\p{L})+(?!${LETTER})\\.?`,
    "[Pp]h\\.[Dd]\\.?",
    `\\p{Nd}+(?:[.,:]\\p{Nd}+)+${LETTER}*`,
    `${LETTER}+(?:(?!'[sS](?!${LETTER}))['&]${LETTER}+)*`,
    `'[sS](?!${LETTER})`,
    "\\.\\.+",
    "--+",
    "\\S",
  ].join("|"),
  "gu",
);
const ALPHANUMERIC = /^[\p{L}\p{N}]$/u;
const FINAL_MARKS = ".!?。।؟۔";
const CLOSERS = "\"')]}»”’";
const SAME_CHARACTERS = [
  [/[“”„‟«»″〝〞]/gu, '"'],
  [/[‘’‚‛‹›′`´ʼ]/gu, "'"],
  [/[‐‑⁃−]/gu, "-"],
  [/[—―⸺⸻]/gu, "--"],
  [/[\p{Cc}\p{Cf}\p{Cs}]/gu, ""],
];

function cleanChunk(chunk) {
  for (let turn = 0; turn < 2; turn++) {
    chunk = chunk.replaceAll("``", '"');
    for (const [pattern, same] of SAME_CHARACTERS) chunk = chunk.replace(pattern, same);
    if (!turn) chunk = chunk.normalize("NFKC");
  }
  return /^–+$/u.test(chunk) ? "--" : chunk.replaceAll("–", "-");
}

function splitWords(chunk) {
  return (chunk.match(WORD) ?? []).map((word) => (/^\.\.+$/.test(word) ? "..." : /^--+$/.test(word) ? "--" : word));
}

function fold(word, rules) {
  if (rules.numbers === "digits") word = word.replace(/\p{Nd}/gu, "0");
  if (rules.numbers === "token" && /^\p{Nd}+(?:[.,:]\p{Nd}+)*$/u.test(word)) word = "<num>";
  return rules.lower_case ? word.toLowerCase() : word;
}

// What a full stop after a word means: never the end of a sentence, usually, perhaps, or not before a number.
function endAfter(word) {
  const folded = word.toLowerCase();
  const { titles, may_end: mayEnd, before_numbers: beforeNumbers, words_before_numbers: wordsBefore } = TEXT_LISTS;
  if (titles.includes(folded)) return "never";
  if (wordsBefore.includes(folded)) return "numbered word";
  if (beforeNumbers.includes(folded)) return "numbered";
  if (mayEnd.includes(folded) || (word.length === 1 && word !== folded)) return "perhaps";
  return "usual";
}

// Abbreviations joined with their full stop, and how the last words may end a sentence.
function joinAbbreviations(words) {
  const joined = [];
  let end = "never";
  for (const word of words) {
    if (CLOSERS.includes(word) && joined.length && end !== "never") {
      joined.push(word);
    } else if (word === "." && joined.length) {
      end = endAfter(joined[joined.length - 1]);
      if (end === "usual" || end === "numbered word") joined.push(word);
      else joined[joined.length - 1] += ".";
    } else {
      end = FINAL_MARKS.includes(word) || word === "..." ? "usual" : "never";
      if (word.length > 2 && word.endsWith(".") && word[0] !== ".") {
        end = TEXT_LISTS.titles.includes(word.toLowerCase().slice(0, -1)) ? "never" : "perhaps";
      }
      joined.push(word);
    }
  }
  return [joined, end];
}

function endsSentence(end, following, isFirst, isEnumerator) {
  if (end === "numbered" && /^\p{Nd}/u.test(following)) return false;
  if (end === "perhaps" || end === "numbered") {
    return TEXT_LISTS.sentence_starters.includes(following.replace(/[,'")\]:;]+$/, ""));
  }
  if (isEnumerator && isFirst) return false;
  return !/^\p{Ll}/u.test(following);
}

// The words of a chunk, how it may end a sentence, and what it has from its first letter on. A text is cut anew with every
// key, so chunks are remembered.
function cutChunk(typed) {
  let cut = cutChunks.get(typed);
  if (!cut) {
    const chunk = cleanChunk(typed);
    const [words, end] = joinAbbreviations(splitWords(chunk));
    const [fromLetter] = chunk.match(/[\p{L}\p{N}]\S*/u) ?? [""];
    cut = { words, end, fromLetter, isEnumerator: /^\(?\p{Nd}{1,3}\.$/u.test(chunk) };
    if (cutChunks.size > MOST_CHUNKS) cutChunks.clear();
    cutChunks.set(typed, cut);
  }
  return cut;
}

// The finished sentences of a line before the cursor, and the words of the one under way.
function cutLine(line, rules) {
  const chunks = line.split(/\s+/u).map(cutChunk).filter(({ words }) => words.length);
  const followers = chunks.map(() => "");
  for (let place = chunks.length - 2; place >= 0; place--) followers[place] = chunks[place + 1].fromLetter || followers[place + 1];
  const finished = [];
  let underWay = [];
  chunks.forEach(({ words, end, isEnumerator }, place) => {
    const isFirst = !underWay.length;
    const following = followers[place];
    if (end === "numbered word" && /^\p{Nd}/u.test(following)) {
      const stop = words.lastIndexOf(".");
      words = [...words.slice(0, stop - 1), `${words[stop - 1]}.`, ...words.slice(stop + 1)];
      end = "never";
    }
    underWay.push(...words.map((word) => fold(word, rules)));
    if (end === "never") return;
    const isLast = place === chunks.length - 1 && (end === "usual" || end === "numbered word");
    if (following ? endsSentence(end, following, isFirst, isEnumerator) : isLast) {
      finished.push(underWay);
      underWay = [];
    }
  });
  return { finished, underWay };
}

// The end of a text, from a blank on. Its start moves in large steps, so that one key more changes only the end.
function readWindow(text) {
  if (text.length <= MOST_CHARACTERS) return text;
  const step = MOST_CHARACTERS / 2;
  const start = Math.ceil((text.length - MOST_CHARACTERS) / step) * step;
  return text.slice(start + text.slice(start).search(/\s/u) + 1);
}

// What is typed before the cursor: finished sentences, the words of the one under way (the model starts anew with each), and
// the letters of a word under the cursor, which take the last `prefixLength` characters of the text.
function typedSoFar(text, rules) {
  const [, before, chunk] = readWindow(text).match(/^([^]*\s|)(\S*)$/u);
  const lines = before.split(/[\n\r]/).map((line) => cutLine(line, rules));
  const { finished, underWay } = lines.pop();
  const pieces = splitWords(cleanChunk(chunk));
  const last = pieces[pieces.length - 1];
  if (last !== undefined && !ALPHANUMERIC.test([...last].pop()) && !last.includes("'")) pieces.push("");
  const prefix = pieces.pop() ?? "";
  return {
    finished: [...lines.flatMap((line) => [...line.finished, line.underWay]), ...finished].filter((words) => words.length),
    words: [...underWay, ...pieces.map((piece) => fold(piece, rules))],
    prefix,
    prefixLength: lengthTyped(chunk, prefix),
  };
}

// How many of the last characters of a chunk became the prefix: a ligature is one, and two letters.
function lengthTyped(chunk, prefix) {
  if (chunk.endsWith(prefix)) return prefix.length;
  let length = 1;
  while (length < chunk.length && cleanChunk(chunk.slice(-length)) !== prefix) length++;
  return length;
}

const [CLOSING, OPENING, JOINING] = ["closing", "opening", "joining"].map((name) => new Set(TEXT_LISTS[name]));

// One word as it is written: capitalised at the start of a sentence; `I` always is.
function writeWord(word, isFirst) {
  if (word === "i" || word.startsWith("i'")) return `I${word.slice(1)}`;
  return isFirst ? word.charAt(0).toUpperCase() + word.slice(1) : word;
}

// Whether there is a blank between the words before, of the same sentence, and the next one.
function blankBetween(before, word) {
  if (!before.length) return false;
  const last = before[before.length - 1];
  if (CLOSING.has(word) || JOINING.has(word) || OPENING.has(last) || JOINING.has(last)) return false;
  const isOpen = before.filter((each) => each === '"').length % 2 === 1;
  return word === '"' || last === '"' ? !isOpen : true;
}
