// The seeds of a match and the numbers drawn from them, written from the texts of packages engine/chance
// and checkpoint/beacon alone, as proof that they suffice. It checks the vectors beside it:
//
//	node testvectors/chance/chance.mjs
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

const bytes = (hex) => Buffer.from(hex, "hex");
const u64 = (n) => { const b = Buffer.alloc(8); b.writeBigUInt64BE(BigInt(n)); return b; };
// D is SHA-256 over a label and fields, each behind its length.
const D = (label, ...fields) => {
  const hash = createHash("sha256");
  for (const f of [Buffer.from(label), ...fields]) hash.update(u64(f.length)).update(f);
  return hash.digest();
};

class Stream {
  constructor(seed, purpose) { Object.assign(this, { seed, purpose: Buffer.from(purpose), block: 0, rest: Buffer.alloc(0) }); }
  take(n) {
    while (this.rest.length < n) this.rest = Buffer.concat([this.rest, D("ludger/stream/v1", this.seed, this.purpose, u64(this.block++))]);
    const head = this.rest.subarray(0, n);
    this.rest = this.rest.subarray(n);
    return head;
  }
  intn(n) { // every number of 0 to n−1 with the same probability
    let width = 0;
    while (256n ** BigInt(width) < BigInt(n)) width++;
    const all = 256n ** BigInt(width), fair = all - (all % BigInt(n));
    for (;;) {
      const v = width ? BigInt("0x" + this.take(width).toString("hex")) : 0n;
      if (v < fair) return Number(v % BigInt(n));
    }
  }
  dice(sides, count) { return Array.from({ length: count }, () => 1 + this.intn(sides)); }
  shuffle(n) {
    const list = Array.from({ length: n }, (_, i) => i);
    for (let i = n - 1; i > 0; i--) { const j = this.intn(i + 1); [list[i], list[j]] = [list[j], list[i]]; }
    return list;
  }
  pick(n, k) {
    const list = Array.from({ length: n }, (_, i) => i);
    for (let i = 0; i < k; i++) { const j = i + this.intn(n - i); [list[i], list[j]] = [list[j], list[i]]; }
    return list.slice(0, k);
  }
}

const read = (name) => JSON.parse(readFileSync(new URL(name, import.meta.url)));
let checked = 0, wrong = 0;
const check = (what, got, want) => {
  checked++;
  if (JSON.stringify(got) !== JSON.stringify(want)) { wrong++; console.error(`${what}: ${JSON.stringify(got)}, want ${JSON.stringify(want)}`); }
};
const v = read("streams.json"), stream = (c) => new Stream(bytes(c.seed), c.purpose);
for (const c of v.streams) check("stream", stream(c).take(c.bytes.length / 2).toString("hex"), c.bytes);
for (const c of v.numbers) { const s = stream(c); check("numbers", c.ranges.map((n) => s.intn(n)), c.want); }
for (const c of v.dice) check("dice", stream(c).dice(c.sides, c.count), c.want);
for (const c of v.shuffles) check("shuffle", stream(c).shuffle(c.n), c.want);
for (const c of v.picks) check("pick", stream(c).pick(c.n, c.k), c.want);
for (const c of read("../beacon/seeds.json").cases) {
  const [match, secret, chain, signature] = [c.match, c.secret, c.chain, c.signature].map(bytes), round = u64(c.round);
  check("commitment", D("ludger/commit/v1", secret).toString("hex"), c.commitment);
  check("public seed", D("ludger/seed/v1", match, chain, round, signature).toString("hex"), c.public);
  check("sealed seed", D("ludger/seed/v1", match, secret, chain, round, signature).toString("hex"), c.sealed);
  check("roll", D("ludger/roll/v1", match, u64(c.turn), chain, round, signature).toString("hex"), c.roll);
}
console.log(`${checked} checked, ${wrong} wrong`);
process.exit(wrong || !checked ? 1 : 0);
