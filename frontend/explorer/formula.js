"use strict";
// Formulas of the notation as MathML, made of elements and texts alone:
//   S5[i,j] = sum[k](A[i,k]*B[k,j])
// `formula(text, ranges)` gives a <math> element, or null for a text that it cannot read.
const MATH = "http://www.w3.org/1998/Math/MathML";
const REDUCERS = { sum: "∑", prod: "∏", max: "max", min: "min" };
const SIGNS = { "*": "·", "-": "−", "<=": "≤", ">=": "≥", "!=": "≠", "==": "=", and: "∧" };

const math = (tag, ...parts) => {
  const made = document.createElementNS(MATH, tag);
  made.append(...parts);
  return made;
};
const sign = (text) => math("mo", SIGNS[text] ?? text);
const row = (parts) => (parts.length === 1 ? parts[0] : math("mrow", ...parts));
const round = (inner) => row([sign("("), inner, sign(")")]);
const symbol = (name) => {
  const made = math("mi", name);
  if (/^[A-Za-z]+\d+$/.test(name)) made.classList.add("numbered");
  return made;
};
// Takes the room around the signs of an index, and adds a strut: without a mathematical font,
// browsers lower an index only where it would be as high as its base.
const close = (index) => {
  for (const each of index.querySelectorAll("mo")) {
    if (!",+−".includes(each.textContent)) continue;
    each.setAttribute("lspace", "0");
    each.setAttribute("rspace", "0");
  }
  const strut = math("mspace");
  strut.setAttribute("height", "1em");
  return math("mrow", index, strut);
};

class Reader {
  constructor(text, ranges) {
    this.tokens = text.match(/\d+(?:\.\d+)?(?:e[+-]?\d+)?|[A-Za-z_]\w*|\/\/|[<>=!]=|\S/g) ?? [];
    this.place = 0;
    this.ranges = ranges;
  }
  peek() { return this.tokens[this.place]; }
  is(...texts) { return texts.includes(this.peek()); }
  next(wanted) {
    const token = this.tokens[this.place++];
    if (token === undefined || (wanted && token !== wanted)) throw new SyntaxError(`no ${wanted}`);
    return token;
  }
  list(end) {
    const found = [];
    while (!this.is(end)) {
      if (found.length) { this.next(","); found.push(sign(",")); }
      found.push(this.test());
    }
    this.next(end);
    return row(found);
  }
  // Levels of binding: comparisons and `and`, sums, products, powers, atoms.
  test() {
    const found = [this.sum()];
    while (this.is("<", "<=", ">", ">=", "==", "!=", "and")) found.push(sign(this.next()), this.sum());
    return row(found);
  }
  sum() {
    const found = this.is("-") ? [sign(this.next())] : [];
    found.push(this.product());
    while (this.is("+", "-")) found.push(sign(this.next()), this.product());
    return row(found);
  }
  product() {
    let above = [this.power()];
    while (this.is("*", "/", "//", "%")) {
      const operator = this.next();
      const factor = this.power(operator === "/");
      if (operator === "/") above = [math("mfrac", row(above), factor)];
      else if (operator === "//") above = [sign("⌊"), math("mfrac", row(above), factor), sign("⌋")];
      else above.push(operator === "%" ? math("mo", "mod") : sign("·"), factor);
    }
    return row(above);
  }
  power(bare = false) {
    const grouped = bare && this.is("(");
    const base = grouped ? this.inside() : this.atom();
    if (!this.is("^")) return base;
    this.next();
    const negative = this.is("-") ? [sign(this.next())] : [];
    const exponent = row([...negative, this.atom()]);
    if (base.localName === "msub") return math("msubsup", ...base.children, exponent);
    return math("msup", grouped ? round(base) : base, exponent);
  }
  inside() {
    this.next("(");
    const found = this.test();
    this.next(")");
    return found;
  }
  atom() {
    if (this.is("(")) return round(this.inside());
    const token = this.next();
    if (/^\d/.test(token)) return math("mn", token);
    if (!/^[A-Za-z_]/.test(token)) throw new SyntaxError(token);
    if (token in REDUCERS && this.is("[")) return this.reduction(token);
    if (this.is("(")) {
      this.next();
      return row([math("mi", token), sign("("), this.list(")"), sign(")")]);
    }
    if (this.is("{")) throw new SyntaxError("{");
    if (!this.is("[")) return token === "inf" ? math("mn", "∞") : symbol(token);
    this.next();
    return math("msub", symbol(token), close(this.list("]")));
  }
  reduction(name) {
    const found = [];
    this.next("[");
    while (!this.is("]")) {
      if (found.length) this.next(",");
      const iterator = this.next();
      const [lo, hi] = this.ranges.get(iterator) ?? [];
      const large = sign(REDUCERS[name]);
      large.setAttribute("movablelimits", "false");
      const below = lo === undefined ? symbol(iterator) : row([symbol(iterator), sign("="), number(lo)]);
      found.push(lo === undefined ? math("munder", large, below) : math("munderover", large, below, number(hi - 1)));
    }
    this.next("]");
    const sum = this.tokens[this.place] === "(" && this.inside();
    if (!sum) throw new SyntaxError("(");
    const several = [...sum.children].some((e) => "+−".includes(e.textContent));
    return row([...found, several ? round(sum) : sum]);
  }
}
const number = (value) => (value < 0 ? row([sign("-"), math("mn", String(-value))]) : math("mn", String(value)));

const formula = (text, ranges) => {
  try {
    const reader = new Reader(text, ranges);
    const left = reader.atom();
    reader.next("=");
    const whole = math("math", left, sign("="), reader.test());
    if (reader.peek() !== undefined) return null;
    whole.setAttribute("display", "block");
    return whole;
  } catch (problem) {
    if (problem instanceof SyntaxError) return null;
    throw problem;
  }
};
