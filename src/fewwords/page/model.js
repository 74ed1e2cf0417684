// A packed fewwords model (.few, described in docs/format.md) with typed arrays alone: reads the file, computes what comes next.

class PackedModel {
  // Reads the bytes of a file; they are trusted, because the page that carries them was made from a checked file.
  static async read(buffer) {
    const file = new PackedFile(buffer);
    const model = new PackedModel();
    model.settings = file.json("settings");
    model.rules = file.json("text");
    model.madeFrom = file.json("made_from");
    model.numBytes = buffer.byteLength;
    model.numWords = file.layout.num_words;
    model.words = await readWords(file, model.numWords);
    model.sorted = Array.from(model.words.keys()).slice(NUM_SPECIAL); // not the file's order, which is by code point, not UTF-16
    model.sorted.sort((one, other) => (model.words[one] < model.words[other] ? -1 : 1));
    model.ids = new Map(model.words.map((word, id) => [word, id]));
    model.codes = file.has("codes") ? readCodes(file, model.numWords) : null;
    const numRows = { coded: model.codes?.numBase, dense: model.numWords };
    model.embedding = readMatrix(file, "embedding", numRows[model.settings.embedding], model.settings.embedding_size);
    model.output = model.settings.tied
      ? model.embedding
      : readMatrix(file, "output", numRows[model.settings.output], model.settings.hidden_size);
    model.bias = readVector(file, "bias", model.settings.coded_bias ? model.codes.numBase : model.numWords);
    model.encoder = makeEncoder(file, model.settings);
    model.baseScores = new Float32Array(model.output.numRows);
    return model;
  }

  // The state at the start of a sentence.
  start() {
    const state = this.encoder.start();
    return this.settings.boundary === "paper" ? state : this.encoder.feed(state, this.vector(START_ID));
  }

  // The state after one more word, given by its id; the state before stays as it is.
  feed(state, id) {
    return this.encoder.feed(state, this.vector(id));
  }

  // The vector of a word: its row, or the rows of its base words times its code.
  vector(id) {
    const { numColumns } = this.embedding;
    if (this.settings.embedding !== "coded" || id < this.codes.numBase) return this.embedding.row(id);
    const vector = new Float32Array(numColumns);
    this.codes.forEach(id, (base, weight) => {
      const row = this.embedding.row(base);
      for (let column = 0; column < numColumns; column++) vector[column] += weight * row[column];
    });
    return vector;
  }

  // ln p of every word as the next one.
  logProbs(state) {
    const scores = new Float32Array(this.numWords);
    const coded = this.settings.output === "coded";
    const base = coded ? this.baseScores : scores;
    multiply(this.output.values, this.encoder.context(state), base);
    if (coded) {
      if (this.settings.coded_bias) for (let id = 0; id < base.length; id++) base[id] += this.bias[id];
      scores.set(base);
      this.codes.spread(base, scores);
    }
    if (!this.settings.coded_bias) for (let id = 0; id < scores.length; id++) scores[id] += this.bias[id];
    let largest = -Infinity;
    for (let id = 0; id < scores.length; id++) if (scores[id] > largest) largest = scores[id];
    let sum = 0;
    for (let id = 0; id < scores.length; id++) sum += Math.exp(scores[id] - largest);
    const logSum = largest + Math.log(sum);
    for (let id = 0; id < scores.length; id++) scores[id] -= logSum;
    return scores;
  }

  // The k most probable words that begin with a prefix, the best first, and the probability of all that do.
  best(logProbs, prefix, k) {
    const ids = [];
    let total = 0;
    for (let place = this.firstAtLeast(prefix), id; place < this.sorted.length; place++) {
      id = this.sorted[place];
      if (!this.words[id].startsWith(prefix)) break;
      total += Math.exp(logProbs[id]);
      if (ids.length === k && logProbs[id] <= logProbs[ids[k - 1]]) continue;
      let rank = ids.length;
      while (rank > 0 && logProbs[ids[rank - 1]] < logProbs[id]) rank--;
      ids.splice(rank, 0, id);
      if (ids.length > k) ids.pop();
    }
    return { ids, total };
  }

  // The place of the first word in alphabetical order that is not before a prefix.
  firstAtLeast(prefix) {
    let low = 0;
    let high = this.sorted.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.words[this.sorted[middle]] < prefix) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  // A word in base words: pairs of word and weight, the largest first; null for a word that is stored itself.
  explain(id) {
    if (!this.codes || id < this.codes.numBase) return null;
    const parts = [];
    this.codes.forEach(id, (base, weight) => parts.push([this.words[base], weight]));
    return parts.sort((one, other) => other[1] - one[1]);
  }
}

const START_ID = 1;
const NUM_SPECIAL = 3;
const SPECIAL_WORDS = ["<unk>", "<s>", "</s>"];

class PackedFile {
  constructor(buffer) {
    const length = Number(new DataView(buffer).getBigUint64(0, true));
    const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, length)));
    this.texts = header.__metadata__;
    delete header.__metadata__;
    this.arrays = {};
    for (const [name, { dtype, data_offsets: [first, end] }] of Object.entries(header)) {
      const bytes = buffer.slice(8 + length + first, 8 + length + end);
      this.arrays[name] = new { F32: Float32Array, U8: Uint8Array, I8: Int8Array }[dtype](bytes);
    }
    this.layout = this.json("layout");
  }

  json(name) {
    return JSON.parse(this.texts[name]);
  }

  facts(part) {
    return this.layout.parts[part];
  }

  has(part) {
    return part in this.layout.parts;
  }

  array(part, name) {
    return this.arrays[`${part}.${name}`];
  }
}

// `count` integers of `width` bits, at most 24, the lowest bit first.
function unpack(bytes, width, count) {
  const found = new Uint32Array(count);
  const mask = 2 ** width - 1;
  for (let place = 0; place < count; place++) {
    const bit = place * width;
    const byte = bit >>> 3;
    const four = bytes[byte] | (bytes[byte + 1] << 8) | (bytes[byte + 2] << 16) | (bytes[byte + 3] << 24); // 0 past the end
    found[place] = (four >>> (bit & 7)) & mask;
  }
  return found;
}

async function inflate(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// The words by rank; in the file they are sorted, each with the number of bytes that it shares with the one before.
async function readWords(file, numWords) {
  const count = numWords - NUM_SPECIAL;
  const ranks = unpack(file.array("words", "ranks"), Math.max(1, (count - 1).toString(2).length), count);
  const shared = await inflate(file.array("words", "shared"));
  const rests = await inflate(file.array("words", "rests"));
  const words = [...SPECIAL_WORDS, ...new Array(count)];
  const decoder = new TextDecoder();
  const word = new Uint8Array(1 << 16);
  for (let place = 0, at = 0; place < count; place++, at++) {
    let length = shared[place];
    while (at < rests.length && rests[at] !== 10) word[length++] = rests[at++];
    words[NUM_SPECIAL + ranks[place]] = decoder.decode(word.subarray(0, length));
  }
  return words;
}

// A matrix widened to float32 once; its first rows may be a part of their own, with more bits.
function readMatrix(file, part, numRows, numColumns) {
  const values = new Float32Array(numRows * numColumns);
  const numHead = file.has(`${part}.head`) ? file.facts(`${part}.head`).rows : 0;
  if (numHead) widen(file, `${part}.head`, numHead, numColumns, values);
  widen(file, part, numRows - numHead, numColumns, values.subarray(numHead * numColumns));
  return { numRows, numColumns, values, row: (id) => values.subarray(id * numColumns, (id + 1) * numColumns) };
}

// Writes the weights of a part: level * scale, with a scale for each group of columns.
function widen(file, part, numRows, numColumns, values) {
  const { bits, groups, lowest, scale_bits: scaleBits } = file.facts(part);
  const levels = file.array(part, "levels");
  const steps = unpack(file.array(part, "scales"), scaleBits, numRows * groups);
  const scales = Float32Array.from(steps, (step) => 2 ** ((step + lowest) / 8));
  const half = Math.ceil(numRows / 2) * numColumns; // 4 bits: a byte has a value of row i and one of row i + half
  for (let at = 0; at < values.length; at++) {
    const level = bits === 8 ? levels[at] : ((at < half ? levels[at] : levels[at - half] >> 4) & 15) - 8;
    const column = at % numColumns;
    values[at] = level * scales[((at - column) / numColumns) * groups + Math.floor((column * groups) / numColumns)];
  }
}

// A vector in blocks of 64: lowest + level * step; the first values of some are stored as they are.
function readVector(file, part, length) {
  const blocks = file.array(part, "blocks");
  const levels = unpack(file.array(part, "levels"), file.facts(part).bits, length);
  const values = Float32Array.from(levels, (level, place) => {
    const block = 2 * (place >> 6);
    return blocks[block] + level * blocks[block + 1];
  });
  values.set(file.array(part, "special") ?? []);
  return values;
}

// The codes of rare words: of each base word there is the gap to the one before, its lower bits as they are, the rest in unary.
function readCodes(file, numWords) {
  const { num_base: numBase, longest, low_bits: lowBits } = file.facts("codes");
  const numRare = numWords - numBase;
  const packedLengths = file.array("codes", "lengths");
  const lengths = packedLengths ? unpack(packedLengths, longest.toString(2).length, numRare) : new Uint32Array(numRare).fill(longest);
  const offsets = new Uint32Array(numRare + 1);
  for (let rare = 0; rare < numRare; rare++) offsets[rare + 1] = offsets[rare] + lengths[rare];
  const count = offsets[numRare];
  const low = unpack(file.array("codes", "low"), lowBits, count);
  const high = file.array("codes", "high");
  const table = file.array("codes", "table");
  const levels = unpack(file.array("codes", "values"), (table.length - 1).toString(2).length, count);
  const indices = new (numBase > 1 << 16 ? Uint32Array : Uint16Array)(count);
  const values = Float32Array.from(levels, (level) => table[level]);
  for (let rare = 0, bit = 0; rare < numRare; rare++) {
    let index = -1;
    for (let place = offsets[rare]; place < offsets[rare + 1]; place++) {
      let zeros = 0;
      while (!((high[bit >>> 3] >>> (bit & 7)) & 1)) zeros++, bit++;
      bit++;
      index += 1 + zeros * 2 ** lowBits + low[place];
      indices[place] = index;
    }
  }
  return {
    numBase,
    forEach(id, use) {
      for (let place = offsets[id - numBase]; place < offsets[id - numBase + 1]; place++) use(indices[place], values[place]);
    },
    // Writes the scores of all rare words behind those of the base words.
    spread(base, scores) {
      for (let rare = 0; rare < numRare; rare++) {
        let sum = 0;
        for (let place = offsets[rare]; place < offsets[rare + 1]; place++) sum += values[place] * base[indices[place]];
        scores[numBase + rare] = sum;
      }
    },
  };
}

// products[row] = matrix row times vector; four sums at a time, because one has to wait for itself.
function multiply(matrix, vector, products) {
  const size = vector.length;
  const even = size - (size % 4);
  for (let row = 0, at = 0; row < products.length; row++, at += size) {
    let one = 0, two = 0, three = 0, four = 0;
    for (let column = 0; column < even; column += 4) {
      one += matrix[at + column] * vector[column];
      two += matrix[at + column + 1] * vector[column + 1];
      three += matrix[at + column + 2] * vector[column + 2];
      four += matrix[at + column + 3] * vector[column + 3];
    }
    for (let column = even; column < size; column++) one += matrix[at + column] * vector[column];
    products[row] = one + two + three + four;
  }
  return products;
}

const product = (matrix, vector) => multiply(matrix.values, vector, new Float32Array(matrix.numRows));
const sigmoid = (value) => 1 / (1 + Math.exp(-value));

function makeEncoder(file, settings) {
  const weights = (name, numRows, numColumns) => readMatrix(file, `encoder.${name}`, numRows, numColumns);
  const bias = (name, length) => readVector(file, `encoder.${name}`, length);
  return settings.encoder === "log-bilinear" ? new LogBilinear(settings, weights) : new Recurrent(settings, weights, bias);
}

// LSTM and GRU, with PyTorch's weights. A state is {h, c} for each layer.
class Recurrent {
  constructor(settings, weights, bias) {
    const { encoder, hidden_size: size, embedding_size: inputSize, num_layers: numLayers } = settings;
    const cells = settings.cell_size || size;
    this.size = size;
    this.cells = cells;
    this.step = encoder === "gru" ? this.gru : this.lstm;
    const gates = (encoder === "gru" ? 3 : 4) * cells;
    this.layers = Array.from({ length: numLayers }, (_, layer) => ({
      fromInput: weights(`${encoder}.weight_ih_l${layer}`, gates, layer ? size : inputSize),
      inputBias: bias(`${encoder}.bias_ih_l${layer}`, gates),
      fromHidden: weights(`${encoder}.weight_hh_l${layer}`, gates, size),
      hiddenBias: bias(`${encoder}.bias_hh_l${layer}`, gates),
      projection: settings.cell_size ? weights(`${encoder}.weight_hr_l${layer}`, size, cells) : null,
    }));
    const learned = settings.boundary === "paper";
    const h = learned ? weights("start_h", numLayers, size) : null;
    const c = learned && encoder === "lstm" ? weights("start_c", numLayers, cells) : null;
    this.first = this.layers.map((_, layer) => ({
      h: h ? h.row(layer) : new Float32Array(size),
      c: c ? c.row(layer) : new Float32Array(cells),
    }));
  }

  start() {
    return this.first;
  }

  context(state) {
    return state[state.length - 1].h;
  }

  feed(state, vector) {
    return this.layers.map((layer, place) => {
      const input = product(layer.fromInput, vector);
      const hidden = product(layer.fromHidden, state[place].h);
      for (let at = 0; at < input.length; at++) {
        input[at] += layer.inputBias[at];
        hidden[at] += layer.hiddenBias[at];
      }
      const after = this.step(input, hidden, state[place], layer);
      vector = after.h;
      return after;
    });
  }

  lstm(input, hidden, before, layer) {
    const { cells } = this;
    const c = new Float32Array(cells);
    const shown = new Float32Array(cells);
    const gate = (number, cell) => input[number * cells + cell] + hidden[number * cells + cell];
    for (let cell = 0; cell < cells; cell++) {
      c[cell] = sigmoid(gate(1, cell)) * before.c[cell] + sigmoid(gate(0, cell)) * Math.tanh(gate(2, cell));
      shown[cell] = sigmoid(gate(3, cell)) * Math.tanh(c[cell]);
    }
    return { h: layer.projection ? product(layer.projection, shown) : shown, c };
  }

  gru(input, hidden, before) {
    const { size } = this;
    const h = new Float32Array(size);
    for (let cell = 0; cell < size; cell++) {
      const reset = sigmoid(input[cell] + hidden[cell]);
      const keep = sigmoid(input[size + cell] + hidden[size + cell]);
      h[cell] = (1 - keep) * Math.tanh(input[2 * size + cell] + reset * hidden[2 * size + cell]) + keep * before.h[cell];
    }
    return { h, c: before.c };
  }
}

// The last `context_size` vectors, the oldest first, each through the matrix of its distance. A state is that list.
class LogBilinear {
  constructor(settings, weights) {
    this.size = settings.hidden_size;
    const padding = weights("padding", settings.context_size, settings.embedding_size);
    this.first = Array.from({ length: settings.context_size }, (_, place) => padding.row(place));
    this.matrices = weights("matrices", settings.context_size * settings.embedding_size, settings.hidden_size);
  }

  start() {
    return this.first;
  }

  feed(state, vector) {
    return [...state.slice(1), vector];
  }

  context(state) {
    const found = new Float32Array(this.size);
    let row = 0;
    for (const vector of state) {
      for (const value of vector) {
        const weights = this.matrices.row(row++);
        for (let column = 0; column < found.length; column++) found[column] += value * weights[column];
      }
    }
    return found;
  }
}
