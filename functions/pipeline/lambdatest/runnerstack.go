//go:build linux

package lambdatest

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dynamodbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/lockstep-iac/lockstep/functions/pipeline/lambdatest/internal/codebuild"
	"github.com/lockstep-iac/lockstep/functions/pipeline/lambdatest/internal/metering"
	"github.com/lockstep-iac/lockstep/functions/pipeline/lambdatest/templates"
)

// A Stack is template.yaml deployed on this machine. Its queues, table and bucket are on real servers. Each
// function has the environment, the timeout and the permissions that the template gives it.
type Stack struct {
	StackOptions
	t        testing.TB
	resolver templates.Resolver
	hashKeys map[string]string // by table
	queues   map[string]string // ARNs by name
	once     sync.Once
	builds   *codebuild.Service
	deployed *deployment

	// Gates are the addresses under which functions find AWS, by function name.
	Gates     map[string]string
	Functions map[string]*Function // by logical name without "Function", in lower case
	Mappings  []*Mapping           // sorted by name
	SQS       *sqs.Client
	S3        *s3.Client
	DynamoDB  *dynamodb.Client

	mu        sync.Mutex
	requests  []Request
	refused   []Request
	sessions  map[string]session // by access key
	assumed   []AssumedRole
	fault     func(Request) int
	sealed    map[string]templates.Call // the call that decrypts an object in the bucket, by the object's ARN
	decisions []templates.Decision
	meter     metering.Meter
	billed    map[string]int // invocations that Usage has counted, by function
}

// StackOptions describe a deployment and the servers around it.
type StackOptions struct {
	Template   templates.Template
	Name       string
	Parameters map[string]string // may omit parameters with a default
	Services   Services
	// Bootstraps are the paths of the functions' programs, by function name.
	Bootstraps map[string]string
	// StateTable is the DynamoDB table for state locks, with the hash key LockID; "" if there is none.
	StateTable string
	// Aliases are the ARNs of KMS keys by alias.
	Aliases map[string]string
	// Timeouts replace the timeouts of the template, by function name.
	Timeouts map[string]time.Duration
	// Promised are the time limits that the functions themselves see, by function name, if these limits are
	// longer; see [FunctionSpec.Promised].
	Promised map[string]time.Duration
	// OtherRoles decides about S3 requests of the roles that an [Account] has made. role is NAME for a role in
	// the stack's account, or NAME-ACCOUNT for a role in another account. nil refuses all these requests.
	OtherRoles func(role, action, resource string) bool
	// Emulator runs the functions: see [FunctionSpec.Emulator].
	Emulator string
	// Keep stores a secret in the stack's account, and returns its ARN.
	Keep func(name, secret string) string
	// Env is added to the environment of all functions, and overrides it.
	Env map[string]string
	Log io.Writer
}

// Deploy creates all resources of the template. They end with the test.
func Deploy(t testing.TB, o StackOptions) *Stack {
	t.Helper()
	s := &Stack{
		StackOptions: o, t: t, hashKeys: map[string]string{o.StateTable: "LockID"}, queues: map[string]string{}, Functions: map[string]*Function{}, Gates: map[string]string{},
		sessions: map[string]session{},
		resolver: templates.Resolver{Template: o.Template, Refs: map[string]string{
			"AWS::Region": Region, "AWS::AccountId": AccountID, "AWS::Partition": "aws", "AWS::StackName": o.Name,
			"AWS::StackId": arn("cloudformation", "stack/"+o.Name+"/00000000-0000-4000-8000-000000000001"),
		}, Atts: map[string]string{}},
	}
	creds := credentials.NewStaticCredentialsProvider(AccessKey, SecretKey, "")
	s.SQS = SQS(o.Services.SQS)
	s.S3 = s3.New(s3.Options{Region: Region, BaseEndpoint: &o.Services.S3, Credentials: creds, UsePathStyle: true})
	s.DynamoDB = dynamodb.New(dynamodb.Options{Region: Region, BaseEndpoint: &o.Services.DynamoDB, Credentials: creds})
	for name, p := range o.Template.Parameters {
		if p.Default != nil {
			s.resolver.Refs[name] = fmt.Sprint(p.Default)
		}
	}
	maps.Copy(s.resolver.Refs, o.Parameters)
	s.names()
	s.each("AWS::DynamoDB::Table", s.makeTable)
	s.each("AWS::S3::Bucket", s.makeBucket)
	// Dead-letter queues first, because the other queues refer to them.
	for _, dead := range []bool{true, false} {
		s.each("AWS::SQS::Queue", func(name string, p map[string]any) {
			if (p["RedrivePolicy"] == nil) == dead {
				s.makeQueue(name, p)
			}
		})
	}
	s.serveBuilds()
	s.each("AWS::Serverless::Function", s.makeFunction)
	s.each("AWS::CodeBuild::Project", s.makeProject)
	s.each("AWS::Lambda::EventSourceMapping", s.makeMapping)
	return s
}

// Ref returns the value of Ref for a name in the template.
func (s *Stack) Ref(name string) string { return s.resolver.Known(s.resolver.Refs, name) }

// Att returns the value of GetAtt for "NAME.ATTRIBUTE" in the template.
func (s *Stack) Att(name string) string { return s.resolver.Known(s.resolver.Atts, name) }

// names sets the name and the ARN of every resource, except for queues, whose names are set when they are
// created.
func (s *Stack) names() {
	for name, r := range s.Template.Resources {
		id := strings.ToLower(s.Name + "-" + name)
		ref, service, resource := id, "", ""
		switch r.Type {
		case "AWS::Serverless::Function":
			ref = s.Name + "-" + strings.ToLower(strings.TrimSuffix(name, "Function"))
			service, resource = "lambda", "function:"+ref
		case "AWS::CodeBuild::Project":
			ref = s.resolver.Resolve(r.Properties["Name"]).(string)
			service, resource = "codebuild", "project/"+ref
		case "AWS::DynamoDB::Table":
			service, resource = "dynamodb", "table/"+id
		case "AWS::Logs::LogGroup":
			service, resource = "logs", "log-group:"+id+":*"
		case "AWS::KMS::Key":
			service, resource = "kms", "key/"+id
		case "AWS::IAM::Role":
			service, resource = "iam", "role/"+id
		}
		s.resolver.Refs[name] = ref
		s.resolver.Atts[name+".Arn"] = arn(service, resource)
		switch r.Type {
		case "AWS::S3::Bucket":
			s.resolver.Atts[name+".Arn"] = "arn:aws:s3:::" + id
		case "AWS::IAM::Role":
			s.resolver.Atts[name+".Arn"] = "arn:aws:iam::" + AccountID + ":role/" + id
		}
	}
}

func (s *Stack) each(kind string, make func(name string, properties map[string]any)) {
	for _, name := range slices.Sorted(maps.Keys(s.Template.Resources)) {
		if r := s.Template.Resources[name]; r.Type == kind && s.resolver.Has(r) {
			make(name, r.Properties)
		}
	}
}

func (s *Stack) makeTable(name string, p map[string]any) {
	in := &dynamodb.CreateTableInput{TableName: aws.String(s.Ref(name)), BillingMode: dynamodbtypes.BillingModePayPerRequest}
	for _, a := range p["AttributeDefinitions"].([]any) {
		m := a.(map[string]any)
		in.AttributeDefinitions = append(in.AttributeDefinitions, dynamodbtypes.AttributeDefinition{
			AttributeName: aws.String(m["AttributeName"].(string)), AttributeType: dynamodbtypes.ScalarAttributeType(m["AttributeType"].(string)),
		})
	}
	for _, k := range p["KeySchema"].([]any) {
		m := k.(map[string]any)
		in.KeySchema = append(in.KeySchema, dynamodbtypes.KeySchemaElement{
			AttributeName: aws.String(m["AttributeName"].(string)), KeyType: dynamodbtypes.KeyType(m["KeyType"].(string)),
		})
	}
	s.hashKeys[*in.TableName] = *in.KeySchema[0].AttributeName
	if _, err := s.DynamoDB.CreateTable(s.t.Context(), in); err != nil {
		s.t.Fatalf("make the table %s: %v", name, err)
	}
}

func (s *Stack) makeBucket(name string, _ map[string]any) {
	if _, err := s.S3.CreateBucket(s.t.Context(), &s3.CreateBucketInput{Bucket: aws.String(s.Ref(name))}); err != nil {
		s.t.Fatalf("make the bucket %s: %v", name, err)
	}
}

func (s *Stack) makeQueue(name string, p map[string]any) {
	attributes := map[string]string{}
	for _, a := range []string{"FifoQueue", "VisibilityTimeout", "MessageRetentionPeriod", "DeduplicationScope", "FifoThroughputLimit"} {
		if p[a] != nil {
			attributes[a] = fmt.Sprint(p[a])
		}
	}
	if p["RedrivePolicy"] != nil {
		policy, err := json.Marshal(s.resolver.Resolve(p["RedrivePolicy"]))
		if err != nil {
			s.t.Fatal(err)
		}
		attributes["RedrivePolicy"] = string(policy)
	}
	queue := s.resolver.Resolve(p["QueueName"]).(string)
	made, err := s.SQS.CreateQueue(s.t.Context(), &sqs.CreateQueueInput{QueueName: &queue, Attributes: attributes})
	if err != nil {
		s.t.Fatalf("make the queue %s: %v", name, err)
	}
	got, err := s.SQS.GetQueueAttributes(s.t.Context(), &sqs.GetQueueAttributesInput{
		QueueUrl: made.QueueUrl, AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameQueueArn},
	})
	if err != nil {
		s.t.Fatal(err)
	}
	s.resolver.Refs[name] = *made.QueueUrl
	s.resolver.Atts[name+".Arn"] = got.Attributes["QueueArn"]
	s.resolver.Atts[name+".QueueName"] = queue
	s.queues[queue] = got.Attributes["QueueArn"]
}

func (s *Stack) makeFunction(name string, p map[string]any) {
	short := strings.ToLower(strings.TrimSuffix(name, "Function"))
	roleName, _, _ := strings.Cut(p["Role"].(map[string]any)["Fn::GetAtt"].(string), ".")
	front := httptest.NewServer(s.newGate(short, roleName))
	s.t.Cleanup(front.Close)
	s.Gates[short] = front.URL
	env := map[string]string{
		"AWS_ENDPOINT_URL": front.URL,
		// The backend of states reads these variables itself.
		"AWS_ENDPOINT_URL_S3": front.URL, "AWS_ENDPOINT_URL_DYNAMODB": front.URL, "AWS_ENDPOINT_URL_STS": front.URL,
	}
	for k, v := range p["Environment"].(map[string]any)["Variables"].(map[string]any) {
		env[k] = fmt.Sprint(s.resolver.Resolve(v))
	}
	maps.Copy(env, s.Env)
	timeout, ok := s.Timeouts[short]
	if !ok {
		var seconds int
		fmt.Sscan(fmt.Sprint(s.resolver.Resolve(p["Timeout"])), &seconds)
		timeout = time.Duration(seconds) * time.Second
	}
	s.Functions[short] = NewFunction(s.t, FunctionSpec{Name: s.Ref(name), Bootstrap: s.Bootstraps[short], Env: env, Timeout: timeout, Promised: s.Promised[short], Emulator: s.Emulator, Log: s.meter.Log(s.Log), happens: s.around(name, roleName)})
}

func (s *Stack) makeMapping(_ string, p map[string]any) {
	queue, _, _ := strings.Cut(p["EventSourceArn"].(map[string]any)["Fn::GetAtt"].(string), ".")
	function := strings.ToLower(strings.TrimSuffix(p["FunctionName"].(map[string]any)["Ref"].(string), "Function"))
	role, _, _ := strings.Cut(s.Template.Resources[templates.Target(p["FunctionName"])].Properties["Role"].(map[string]any)["Fn::GetAtt"].(string), ".")
	asks := func(action string) {
		s.must(s.rightsOf(role), templates.Call{Action: action, Resource: s.Att(queue + ".Arn"), Context: tls()})
	}
	asks("sqs:GetQueueAttributes")
	s.Mappings = append(s.Mappings, &Mapping{
		asks: asks, taken: s.meter.Taken,
		Queue: s.SQS, QueueURL: s.Ref(queue), QueueName: s.resolver.Atts[queue+".QueueName"],
		Function: s.Functions[function], BatchSize: int32(p["BatchSize"].(int)),
	})
}

// Fault makes some requests fail. f is called before each allowed request. It returns the HTTP status of the
// answer, or 0 to let the request through. A nil f ends the faults.
func (s *Stack) Fault(f func(Request) int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = f
}

func (s *Stack) note(q Request) int {
	s.mu.Lock()
	s.requests = append(s.requests, q)
	f := s.fault
	s.mu.Unlock()
	if f == nil {
		return 0
	}
	return f(q)
}

func (s *Stack) denied(q Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refused = append(s.refused, q)
}

// Requests returns the requests of functions to AWS that were allowed. See Denied for the others.
func (s *Stack) Requests() []Request { return s.list(&s.requests) }

// Denied returns the requests of functions to AWS that their roles did not allow.
func (s *Stack) Denied() []Request { return s.list(&s.refused) }

// ForgetDenied empties the list that Denied returns. A test calls it after it has provoked refusals.
func (s *Stack) ForgetDenied() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refused = nil
}

func (s *Stack) list(of *[]Request) []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(*of)
}
