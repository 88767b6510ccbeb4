package awstest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	cf "github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
)

// stacks is the fake CloudFormation of an account.
type stacks struct{ *Account }

// A stack is a CloudFormation stack. A change of it is in progress until a client has asked about the stack
// once.
type stack struct {
	name, id   string
	status     cf.StackStatus
	next       cf.StackStatus // after the present one; "" if that stays
	template   document
	parameters map[string]string
	tags       []cf.Tag
	events     []cf.StackEvent // oldest first
	changes    map[string]*changeSet
}

// FailAt makes the next change of a stack fail at a resource, for a reason.
func (a *Account) FailAt(resource, reason string) {
	a.mu.Lock()
	a.fails, a.reason = resource, reason
	a.mu.Unlock()
}

// Stack returns the status and the parameters of a stack; "" if there is none.
func (a *Account) Stack(name string) (status string, parameters map[string]string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if s := a.stacks[name]; s != nil {
		return string(s.status), maps.Clone(s.parameters)
	}
	return "", nil
}

// SetStatus puts a stack into a status, which stays, or is followed by another one.
func (a *Account) SetStatus(name, status, next string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.stacks[name].status, a.stacks[name].next = cf.StackStatus(status), cf.StackStatus(next)
}

// stackNamed finds a stack by name or ID.
func (a stacks) stackNamed(id *string) (*stack, error) {
	name := aws.ToString(id)
	if s := a.stacks[name]; s != nil {
		return s, nil
	}
	for _, s := range a.stacks {
		if s.id == name {
			return s, nil
		}
	}
	if s := a.gone[name]; s != nil {
		return s, nil
	}
	return nil, invalid("Stack with id %s does not exist", name)
}

// event adds an event to the stack: a resource, of the type kind, has reached a status. reason may be "".
func (s *stack) event(resource, kind string, status cf.ResourceStatus, reason string) {
	e := cf.StackEvent{
		EventId: aws.String(fmt.Sprint(s.name, "-", len(s.events)+1)), StackId: &s.id, StackName: &s.name, LogicalResourceId: &resource,
		ResourceType: &kind, ResourceStatus: status, Timestamp: aws.Time(time.Now()),
	}
	if reason != "" {
		e.ResourceStatusReason = &reason
	}
	s.events = append(s.events, e)
}

func (a stacks) describeStacks(in *cloudformation.DescribeStacksInput) (*cloudformation.DescribeStacksOutput, error) {
	s, err := a.stackNamed(in.StackName)
	if err != nil {
		return nil, err
	}
	out := cf.Stack{StackName: &s.name, StackId: &s.id, StackStatus: s.status, CreationTime: aws.Time(time.Now()), Tags: s.tags}
	for _, name := range slices.Sorted(maps.Keys(s.parameters)) {
		value := s.parameters[name]
		if s.template.hidden[name] {
			value = "****"
		}
		out.Parameters = append(out.Parameters, cf.Parameter{ParameterKey: aws.String(name), ParameterValue: &value})
	}
	if strings.HasSuffix(string(s.status), "_COMPLETE") && s.status != cf.StackStatusRollbackComplete {
		for name, value := range map[string]string{"WebhookUrl": a.HookURL, "PlanRoleArn": "arn:aws:iam::" + ID + ":role/plan", "ArtifactsBucket": s.name + "-artifacts"} {
			out.Outputs = append(out.Outputs, cf.Output{OutputKey: aws.String(name), OutputValue: aws.String(value)})
		}
	}
	if s.next != "" {
		s.status, s.next = s.next, ""
		if s.status == cf.StackStatusDeleteComplete {
			delete(a.stacks, s.name)
			a.gone[s.id] = s
		}
	}
	return &cloudformation.DescribeStacksOutput{Stacks: []cf.Stack{out}}, nil
}

func (a stacks) getTemplate(in *cloudformation.GetTemplateInput) (*cloudformation.GetTemplateOutput, error) {
	s, err := a.stackNamed(in.StackName)
	if err != nil {
		return nil, err
	}
	return &cloudformation.GetTemplateOutput{TemplateBody: &s.template.text}, nil
}

func (a stacks) deleteStack(in *cloudformation.DeleteStackInput) (*cloudformation.DeleteStackOutput, error) {
	s, err := a.stackNamed(in.StackName)
	if err != nil {
		return &cloudformation.DeleteStackOutput{}, nil
	}
	s.status, s.next = cf.StackStatusDeleteInProgress, cf.StackStatusDeleteComplete
	return &cloudformation.DeleteStackOutput{}, nil
}

// describeStackEvents answers the action DescribeStackEvents. The newest event comes first.
func (a stacks) describeStackEvents(in *cloudformation.DescribeStackEventsInput) (*cloudformation.DescribeStackEventsOutput, error) {
	s, err := a.stackNamed(in.StackName)
	if err != nil {
		return nil, err
	}
	out := slices.Clone(s.events)
	slices.Reverse(out)
	return &cloudformation.DescribeStackEventsOutput{StackEvents: out}, nil
}

func (a stacks) describeStackResources(in *cloudformation.DescribeStackResourcesInput) (*cloudformation.DescribeStackResourcesOutput, error) {
	s, err := a.stackNamed(in.StackName)
	if err != nil {
		return nil, err
	}
	out := &cloudformation.DescribeStackResourcesOutput{}
	for _, name := range slices.Sorted(maps.Keys(s.template.resources)) {
		kind := s.template.resources[name]
		out.StackResources = append(out.StackResources, cf.StackResource{
			LogicalResourceId: aws.String(name), ResourceType: &kind, PhysicalResourceId: aws.String(s.physical(name, kind)),
			ResourceStatus: cf.ResourceStatusCreateComplete, Timestamp: aws.Time(time.Now()),
		})
	}
	return out, nil
}

// physical is the name of a resource in its own service.
func (s *stack) physical(name, kind string) string {
	if kind == "AWS::SQS::Queue" {
		return "https://sqs." + Region + ".amazonaws.com/" + ID + "/" + s.name + "-" + name
	}
	if kind == "AWS::S3::Bucket" {
		return strings.ToLower(s.name+"-"+name) + "-1a2b"
	}
	return s.name + "-" + name
}
