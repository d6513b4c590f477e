'use strict';
// The least that a benchmark script needs: it takes its parameters as `name=value`, runs every combination that they
// leave over, and prints operations a second, in the form of Node.js's own benchmarks. For every version from 6 on.

const path = require('path');

// A batch takes about this long, in seconds: short enough to be interrupted seldom on a busy machine.
const BATCH = 0.001;
// So many of them are measured, each of which is a line.
const BATCHES = 40;

// `body` gets a configuration and gives a function that does the work n times.
exports.createBenchmark = function(body, parameters) {
  const given = {};
  process.argv.slice(2).forEach(function(argument) {
    const match = /^([^=]+)=([^]*)$/.exec(argument);
    if (!match || !parameters[match[1]]) {
      console.error('no parameter: ' + argument);
      process.exit(2);
    }
    const value = typeof parameters[match[1]][0] === 'number' ? +match[2] : match[2];
    (given[match[1]] = given[match[1]] || []).push(value);
  });
  let all = [{}];
  Object.keys(parameters).forEach(function(name) {
    const further = [];
    all.forEach(function(begin) {
      (given[name] || parameters[name]).forEach(function(value) {
        const configuration = Object.assign({}, begin);
        configuration[name] = value;
        further.push(configuration);
      });
    });
    all = further;
  });
  const name = path.relative(__dirname, process.argv[1]);
  all.forEach(function(configuration) {
    const settings = Object.keys(configuration).map(function(key) {
      return ' ' + key + '=' + JSON.stringify(configuration[key]);
    });
    measure(body(configuration)).forEach(function(rate) {
      console.log(name + settings.join('') + ': ' + rate);
    });
  });
};

function measure(work) {
  // What is measured is compiled code, so it runs for a while before.
  let n = 1;
  for (let warm = 0; warm < 20 * BATCH; ) {
    const seconds = time(work, n);
    warm += seconds;
    if (seconds < BATCH) n *= 2;
  }
  const rates = [];
  for (let batch = 0; batch < BATCHES; batch++) rates.push(n / time(work, n));
  return rates;
}

function time(work, n) {
  const begun = process.hrtime();
  work(n);
  const elapsed = process.hrtime(begun);
  return elapsed[0] + elapsed[1] / 1e9;
}
