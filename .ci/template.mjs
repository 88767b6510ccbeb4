// Checks a CloudFormation template against AWS' own description of resource types:
// types, properties, their values' kinds, limits and required ones; what Ref, GetAtt, Sub, If
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

// What properties may be that the description says only the kind of: [from, to], a pattern,
// or the values. Of a parameter, its default and its own limits must be within.
// Sources: "Constraints" and "Allowed values" of each type's page below
// https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/
const lambda = {
  FunctionName: /^[A-Za-z0-9-_]{1,64}$/, MemorySize: [128, 10240], Timeout: [1, 900], ReservedConcurrentExecutions: [0, 1000],
  'EphemeralStorage.Size': [512, 10240], 'Architectures[]': ['arm64', 'x86_64'], Description: /^.{0,256}$/, Runtime: /^(provided\.al2023|provided\.al2)$/,
  'EventInvokeConfig.MaximumRetryAttempts': [0, 2],
};
const limits = {
  'AWS::Serverless::Function': lambda, 'AWS::Lambda::Function': lambda,
  'AWS::Lambda::Url': { AuthType: ['AWS_IAM', 'NONE'] },
  'AWS::Lambda::Permission': { Action: /^lambda:[A-Za-z]+$/, FunctionUrlAuthType: ['AWS_IAM', 'NONE'] },
  // A FIFO queue's batch is of 10 messages at most.
  'AWS::Lambda::EventSourceMapping': { BatchSize: [1, 10], 'ScalingConfig.MaximumConcurrency': [2, 1000], 'FunctionResponseTypes[]': ['ReportBatchItemFailures'] },
  'AWS::SQS::Queue': {
    QueueName: /^[A-Za-z0-9_-]{1,75}\.fifo$|^[A-Za-z0-9_-]{1,80}$/, VisibilityTimeout: [0, 43200], MessageRetentionPeriod: [60, 1209600],
    DelaySeconds: [0, 900], DeduplicationScope: ['messageGroup', 'queue'], FifoThroughputLimit: ['perMessageGroupId', 'perQueue'],
    'RedrivePolicy.maxReceiveCount': [1, 1000],
  },
  'AWS::Logs::LogGroup': {
    LogGroupName: /^[.\-_/#A-Za-z0-9]{1,512}$/,
    RetentionInDays: [1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653].map(String),
  },
  'AWS::CloudWatch::Alarm': {
    ComparisonOperator: ['GreaterThanOrEqualToThreshold', 'GreaterThanThreshold', 'LessThanThreshold', 'LessThanOrEqualToThreshold'],
    Statistic: ['SampleCount', 'Average', 'Sum', 'Minimum', 'Maximum'], TreatMissingData: ['breaching', 'notBreaching', 'ignore', 'missing'],
    Period: /^(10|20|30|[1-9][0-9]*)$/, AlarmDescription: /^.{0,1024}$/,
  },
  'AWS::KMS::Alias': { AliasName: /^alias\/(?!aws\/)[a-zA-Z0-9/_-]{1,250}$/ },
  'AWS::KMS::Key': { Description: /^.{0,8192}$/ },
  'AWS::IAM::RolePolicy': { PolicyName: /^[\w+=,.@-]{1,128}$/ },
  'AWS::IAM::Role': { 'Policies[].PolicyName': /^[\w+=,.@-]{1,128}$/, RoleName: /^[\w+=,.@-]{1,64}$/ },
  'AWS::Scheduler::Schedule': {
    'FlexibleTimeWindow.Mode': ['OFF', 'FLEXIBLE'], ScheduleExpression: /^(at|rate|cron)\(.+\)$/, 'Target.RetryPolicy.MaximumRetryAttempts': [0, 185],
  },
  'AWS::DynamoDB::Table': {
    BillingMode: ['PAY_PER_REQUEST', 'PROVISIONED'], 'AttributeDefinitions[].AttributeType': ['S', 'N', 'B'], 'KeySchema[].KeyType': ['HASH', 'RANGE'],
  },
  'AWS::S3::Bucket': {
    'VersioningConfiguration.Status': ['Enabled', 'Suspended'], 'OwnershipControls.Rules[].ObjectOwnership': ['BucketOwnerEnforced', 'BucketOwnerPreferred', 'ObjectWriter'],
    'BucketEncryption.ServerSideEncryptionConfiguration[].ServerSideEncryptionByDefault.SSEAlgorithm': ['aws:kms', 'aws:kms:dsse', 'AES256'],
    'LifecycleConfiguration.Rules[].Status': ['Enabled', 'Disabled'],
  },
};

// possible returns the values that an expression may have, as far as they are known: of a
// stack with a short name.
function possible(x) {
  if (x?.Ref && Parameters[x.Ref]) {
    const p = Parameters[x.Ref];
    return [p.Default, p.MinValue, p.MaxValue, ...(p.AllowedValues ?? [])].filter((v) => v !== undefined);
  }
  if (x?.['Fn::If']) return x['Fn::If'].slice(1).flatMap(possible);
  if (typeof x?.['Fn::Sub'] === 'string') return [x['Fn::Sub'].replaceAll('${AWS::StackName}', 'lockstep').replace(/\$\{[^}]+\}/g, 'x')];
  return isObject(x) ? [] : [x];
}

function within(at, x, limit) {
  for (const v of possible(x)) {
    const ok = limit instanceof RegExp ? limit.test(String(v))
      : typeof limit[0] === 'number' ? Number(v) >= limit[0] && Number(v) <= limit[1] : limit.includes(String(v));
    if (!ok) say(at, `${v} is not what it may be: ${limit instanceof RegExp ? limit : limit.join(typeof limit[0] === 'number' ? ' to ' : ', ')}`);
  }
}

// limited follows a path of the limits, in which [] is each of a list.
function limited(at, x, path, limit) {
  if (x === undefined || isFunction(x) && path.length) return;
  if (!path.length) return within(at, x, limit);
  const [first, ...rest] = path;
  const name = first.replace('[]', '');
  const v = x[name];
  if (first === name) return limited(`${at}.${name}`, v, rest, limit);
  if (Array.isArray(v)) v.forEach((y, i) => limited(`${at}.${name}[${i}]`, y, rest, limit));
}

const isFunction = (x) => isObject(x) && Object.keys(x).length === 1 && /^(Ref|Fn::.+)$/.test(Object.keys(x)[0]);

// value checks x against a type of the description.
function value(at, x, type) {
  if (isFunction(x)) return;
  switch (type.type) {
    case 'string':
      if (isObject(x) || Array.isArray(x)) say(at, 'must be a string');
      else if (type.allowedValues && !type.allowedValues.includes(String(x))) say(at, `${x} is not one of ${type.allowedValues.join(', ')}`);
      return;
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
    for (const [path, limit] of Object.entries(limits[r.Type] ?? {})) limited(name, given, path.split('.'), limit);
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
