// Checks a CloudFormation template against AWS' own description of resource types:
// types, properties, their values' kinds and required ones; what Ref, GetAtt, Sub, If
// and DependsOn name; parameters and conditions that nothing uses. Prints a line for each
// problem, which begins with the file, and exits 1 if there are any.
//
// usage: node .ci/template.mjs NODE_MODULES TEMPLATE...
//
// NODE_MODULES is where .ci/parts put @aws-cdk/aws-service-spec and yaml-cfn.
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

const [modules, ...files] = process.argv.slice(2);
const require = createRequire(resolve(modules) + '/');
const { loadAwsServiceSpec } = require('@aws-cdk/aws-service-spec');
const { yamlParse } = require('yaml-cfn');

const spec = await loadAwsServiceSpec();
const lookup = (type) => spec.lookup('resource', 'cloudFormationType', 'equals', type)[0];
const problems = [];
let file, Parameters, Conditions, Resources, used;
const say = (at, text) => problems.push(`${file}: ${at}: ${text}`);

// What SAM makes of its function.
const attributesOf = (type) => lookup(type === 'AWS::Serverless::Function' ? 'AWS::Lambda::Function' : type)?.attributes ?? {};
const isObject = (x) => x !== null && typeof x === 'object' && !Array.isArray(x);

function ref(at, name) {
  used.add(name);
  if (!name.startsWith('AWS::') && !(name in Parameters) && !(name in Resources)) say(at, `Ref of ${name}, which is nothing`);
}

function getAtt(at, [name, ...rest]) {
  const attribute = rest.join('.');
  if (!(name in Resources)) return say(at, `GetAtt of ${name}, which is no resource`);
  if (!(attribute in attributesOf(Resources[name].Type))) say(at, `${name} (${Resources[name].Type}) has no attribute ${attribute}`);
}

function condition(at, name) {
  used.add(name);
  if (!(name in Conditions)) say(at, `there is no condition ${name}`);
}

// functions follows what an expression names, wherever it is.
function functions(at, x) {
  if (Array.isArray(x)) return x.forEach((y, i) => functions(`${at}[${i}]`, y));
  if (!isObject(x)) return;
  for (const [k, v] of Object.entries(x)) {
    if (k === 'Ref') ref(at, v);
    else if (k === 'Fn::GetAtt') getAtt(at, Array.isArray(v) ? v : v.split('.'));
    else if (k === 'Fn::If') { condition(at, v[0]); functions(at, v.slice(1)); }
    else if (k === 'Fn::Sub') {
      for (const [, name] of (Array.isArray(v) ? v[0] : v).matchAll(/\$\{([^!}]+)\}/g))
        name.includes('.') ? getAtt(at, name.split('.')) : ref(at, name);
    } else functions(`${at}.${k}`, v);
  }
}

const isFunction = (x) => isObject(x) && Object.keys(x).length === 1 && /^(Ref|Fn::.+)$/.test(Object.keys(x)[0]);

// value checks x against a type of the description.
function value(at, x, type) {
  if (isFunction(x)) return;
  switch (type.type) {
    case 'string': if (isObject(x) || Array.isArray(x)) say(at, 'must be a string'); return;
    case 'boolean': if (![true, false, 'true', 'false'].includes(x)) say(at, 'must be true or false'); return;
    case 'integer': if (!Number.isInteger(Number(x))) say(at, 'must be an integer'); return;
    case 'number': if (Number.isNaN(Number(x))) say(at, 'must be a number'); return;
    case 'array':
      if (!Array.isArray(x)) return say(at, 'must be a list');
      return x.forEach((y, i) => value(`${at}[${i}]`, y, type.element));
    case 'map':
      if (!isObject(x)) return say(at, 'must be a map');
      return Object.entries(x).forEach(([k, y]) => value(`${at}.${k}`, y, type.element));
    case 'ref': return properties(at, x, spec.get('typeDefinition', type.reference.$ref).properties);
  }
}

function properties(at, x, known) {
  if (!isObject(x)) return say(at, 'must have properties');
  for (const [k, v] of Object.entries(x)) k in known ? value(`${at}.${k}`, v, known[k].type) : say(at, `there is no property ${k}`);
  for (const [k, p] of Object.entries(known)) if (p.required && !(k in x)) say(at, `${k} is missing`);
}

function check() {
  let template;
  try {
    template = yamlParse(readFileSync(file, 'utf8'));
  } catch (e) {
    return say('it is not readable', e.message);
  }
  ({ Parameters = {}, Conditions = {}, Resources = {} } = template);
  used = new Set();
  for (const [name, r] of Object.entries(Resources)) {
    const type = lookup(r.Type);
    if (!type) { say(name, `there is no resource type ${r.Type}`); continue; }
    const given = r.Type === 'AWS::Serverless::Function' ? { ...template.Globals?.Function, ...r.Properties } : r.Properties ?? {};
    properties(name, given, type.properties);
    functions(name, r.Properties);
    for (const d of [r.DependsOn ?? []].flat()) if (!(d in Resources)) say(name, `DependsOn ${d}, which is no resource`);
    if (r.Condition) condition(name, r.Condition);
  }
  functions('Outputs', template.Outputs);
  functions('Conditions', Conditions);
  for (const name of [...Object.keys(Parameters), ...Object.keys(Conditions)]) if (!used.has(name)) say(name, 'is used by nothing');
}

for (file of files) check();
for (const p of problems) console.log(p);
process.exit(problems.length ? 1 : 0);
