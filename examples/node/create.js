'use strict';
// Three ways to a buffer with `len` bytes: appending to an array that grows, letting the buffer take its bytes from a
// source by itself, and assigning every byte of a buffer that is there.

const common = require('./common.js');

common.createBenchmark(body, {
  way: ['push', 'from', 'assign'],
  source: ['array', 'string'],
  len: [10, 2048],
});

function body(configuration) {
  const len = configuration.len;
  const bytes = [];
  for (let i = 0; i < len; i++) bytes.push(97 + i % 26);
  const text = Buffer.from(bytes).toString('latin1');
  const isArray = configuration.source === 'array';
  const source = isArray ? bytes : text;
  const at = isArray ? atArray : atString;
  const make = { push: push, from: from, assign: assign }[configuration.way];
  return function(n) {
    let sum = 0;
    for (let i = 0; i < n; i++) sum += make(source, len, at)[len - 1];
    if (sum !== n * bytes[len - 1]) throw new Error('the buffers are wrong');
  };
}

function atArray(source, i) { return source[i]; }
function atString(source, i) { return source.charCodeAt(i); }

function push(source, len, at) {
  const bytes = [];
  for (let i = 0; i < len; i++) bytes.push(at(source, i));
  return Buffer.from(bytes);
}

function from(source) {
  return typeof source === 'string' ? Buffer.from(source, 'latin1') : Buffer.from(source);
}

function assign(source, len, at) {
  const buffer = Buffer.alloc(len);
  for (let i = 0; i < len; i++) buffer[i] = at(source, i);
  return buffer;
}
