package awstest

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	cf "github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
	"go.yaml.in/yaml/v4"
)

// A document is a template as CloudFormation reads it.
type document struct {
	text      string
	defaults  map[string]*string // by parameter; nil: there is none
	hidden    map[string]bool
	resources map[string]string // types by name
	code      map[string]codeAt // of functions
}

type codeAt struct{ Bucket, Key, Version string }

// parse reads a template.
func parse(text string) (document, error) {
	var x struct {
		Parameters map[string]struct {
			Default yaml.Node `yaml:"Default"`
			NoEcho  bool      `yaml:"NoEcho"`
		} `yaml:"Parameters"`
		Resources map[string]struct {
			Type       string               `yaml:"Type"`
			Properties map[string]yaml.Node `yaml:"Properties"`
		} `yaml:"Resources"`
	}
	d := document{text: text, defaults: map[string]*string{}, hidden: map[string]bool{}, resources: map[string]string{}, code: map[string]codeAt{}}
	// The short forms of functions are tags, which do not matter here.
	if err := yaml.Unmarshal([]byte(regexp.MustCompile(`![A-Z][A-Za-z]*`).ReplaceAllString(text, "")), &x); err != nil {
		return d, invalid("Template format error: %s", err)
	}
	for name, p := range x.Parameters {
		d.defaults[name], d.hidden[name] = nil, p.NoEcho
		if !p.Default.IsZero() {
			d.defaults[name] = &p.Default.Value
		}
	}
	for name, r := range x.Resources {
		d.resources[name] = r.Type
		if node, ok := r.Properties["CodeUri"]; ok {
			var at struct {
				Bucket  string `yaml:"Bucket"`
				Key     string `yaml:"Key"`
				Version string `yaml:"Version"`
			}
			if err := node.Decode(&at); err != nil {
				return d, invalid("Resource with id [%s] is invalid. 'CodeUri' is not a valid S3 Uri of the form 's3://bucket/key'", name)
			}
			d.code[name] = codeAt(at)
		}
	}
	return d, nil
}

// A changeSet is a change set of a stack that is not executed yet.
type changeSet struct {
	template       document
	parameters     map[string]string
	tags           []cf.Tag
	status         cf.ChangeSetStatus
	reason         string
	changes        []cf.Change
	next, rollback cf.StackStatus // of the stack
}

// fetch reads the template that a URL names: https://s3.REGION.amazonaws.com/BUCKET/KEY?versionId=V, or with the
// bucket in the host.
func (a stacks) fetch(address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", invalid("TemplateURL must be a supported URL.")
	}
	path := strings.TrimPrefix(u.Path, "/")
	if name, _, ok := strings.Cut(u.Host, ".s3."); ok {
		path = name + "/" + path
	}
	name, key, _ := strings.Cut(path, "/")
	if !strings.HasSuffix(u.Host, ".amazonaws.com") {
		return "", invalid("TemplateURL must reference a valid S3 object to which you have access.")
	}
	action := "s3:GetObject"
	if u.Query().Has("versionId") {
		action = "s3:GetObjectVersion"
	}
	a.asked = append(a.asked, Request{action, "arn:aws:s3:::" + name + "/" + key})
	text := a.read(name, key, u.Query().Get("versionId"))
	if text == nil {
		return "", invalid("TemplateURL must reference a valid S3 object to which you have access.")
	}
	return string(text), nil
}

// createChangeSet answers the action CreateChangeSet.
// Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_CreateChangeSet.html
func (a stacks) createChangeSet(in *cloudformation.CreateChangeSetInput) (*cloudformation.CreateChangeSetOutput, error) {
	name := aws.ToString(in.StackName)
	s := a.stacks[name]
	switch fresh := s == nil || s.status == cf.StackStatusReviewInProgress; {
	case fresh != (in.ChangeSetType == cf.ChangeSetTypeCreate):
		return nil, invalid("Stack [%s] does not exist, or exists already", name)
	case !fresh && !s.updatable():
		return nil, invalid("Stack:%s is in %s state and can not be updated.", name, s.status)
	case !slices.Contains(in.Capabilities, cf.CapabilityCapabilityIam):
		return nil, &problem{400, "InsufficientCapabilitiesException", "Requires capabilities : [CAPABILITY_IAM]"}
	case s != nil && s.changes[*in.ChangeSetName] != nil:
		return nil, &problem{400, "AlreadyExistsException", "ChangeSet " + *in.ChangeSetName + " already exists"}
	}
	text, err := a.fetch(aws.ToString(in.TemplateURL))
	if err != nil {
		return nil, err
	}
	d, err := parse(text)
	if err != nil {
		return nil, err
	}
	if s == nil {
		s = &stack{name: name, id: fmt.Sprintf("arn:aws:cloudformation:%s:%s:stack/%s/%d", Region, ID, name, len(a.gone)), status: cf.StackStatusReviewInProgress, changes: map[string]*changeSet{}}
		a.stacks[name] = s
	}
	c := &changeSet{template: d, tags: in.Tags, status: cf.ChangeSetStatusCreateComplete}
	if c.parameters, err = s.values(d, in.Parameters); err != nil {
		return nil, err
	}
	for name, at := range d.code {
		if a.read(at.Bucket, at.Key, at.Version) == nil {
			return nil, invalid("the code of %s is not at %v", name, at)
		}
	}
	c.compare(s)
	s.changes[*in.ChangeSetName] = c
	return &cloudformation.CreateChangeSetOutput{Id: aws.String("arn:aws:cloudformation:changeSet/" + *in.ChangeSetName), StackId: &s.id}, nil
}

func (s *stack) updatable() bool {
	return strings.HasSuffix(string(s.status), "_COMPLETE") && s.status != cf.StackStatusRollbackComplete
}

// values are the parameters of a stack after a change.
func (s *stack) values(d document, given []cf.Parameter) (map[string]string, error) {
	out := map[string]string{}
	for name, def := range d.defaults {
		if def != nil {
			out[name] = *def
		}
	}
	for _, p := range given {
		name := aws.ToString(p.ParameterKey)
		if _, known := d.defaults[name]; !known {
			return nil, invalid("Parameters: [%s] do not exist in the template", name)
		}
		if aws.ToBool(p.UsePreviousValue) {
			old, ok := s.parameters[name]
			if !ok {
				return nil, invalid("Invalid input for parameter key %s. Cannot specify usePreviousValue as true for a parameter key not in the previous template", name)
			}
			out[name] = old
			continue
		}
		out[name] = aws.ToString(p.ParameterValue)
	}
	for name := range d.defaults {
		if _, ok := out[name]; !ok {
			return nil, invalid("Parameters: [%s] must have values", name)
		}
	}
	return out, nil
}

// compare finds the changes that the change set makes to a stack. If it makes none, the change set fails, as on
// AWS.
func (c *changeSet) compare(s *stack) {
	fresh := s.status == cf.StackStatusReviewInProgress
	tags := func(list []cf.Tag) string {
		var out []string
		for _, t := range list {
			out = append(out, *t.Key+"="+*t.Value)
		}
		slices.Sort(out)
		return strings.Join(out, ",")
	}
	same := !fresh && c.template.text == s.template.text && maps.Equal(c.parameters, s.parameters) && tags(c.tags) == tags(s.tags)
	c.next, c.rollback = cf.StackStatusUpdateComplete, cf.StackStatusUpdateRollbackComplete
	if fresh {
		c.next, c.rollback = cf.StackStatusCreateComplete, cf.StackStatusRollbackComplete
	}
	if same {
		c.status, c.reason = cf.ChangeSetStatusFailed, "The submitted information didn't contain changes. Submit different information to create a change set."
		return
	}
	for _, name := range slices.Sorted(maps.Keys(c.template.resources)) {
		r := &cf.ResourceChange{Action: cf.ChangeActionAdd, LogicalResourceId: aws.String(name), ResourceType: aws.String(c.template.resources[name])}
		if s.template.resources[name] != "" {
			if c.template.code[name] == s.template.code[name] {
				continue
			}
			r.Action, r.Replacement = cf.ChangeActionModify, cf.ReplacementFalse
		}
		c.changes = append(c.changes, cf.Change{Type: cf.ChangeTypeResource, ResourceChange: r})
	}
	if len(c.changes) == 0 {
		c.changes = []cf.Change{{Type: cf.ChangeTypeResource, ResourceChange: &cf.ResourceChange{
			Action: cf.ChangeActionModify, Replacement: cf.ReplacementConditional, LogicalResourceId: aws.String("PlanFunction"), ResourceType: aws.String("AWS::Lambda::Function"),
		}}}
	}
}

func (a stacks) changeOf(stack, name *string) (*stack, *changeSet, error) {
	s, err := a.stackNamed(stack)
	if err != nil {
		return nil, nil, err
	}
	c := s.changes[aws.ToString(name)]
	if c == nil {
		return s, nil, &problem{404, "ChangeSetNotFound", "ChangeSet [" + aws.ToString(name) + "] does not exist"}
	}
	return s, c, nil
}

func (a stacks) describeChangeSet(in *cloudformation.DescribeChangeSetInput) (*cloudformation.DescribeChangeSetOutput, error) {
	_, c, err := a.changeOf(in.StackName, in.ChangeSetName)
	if err != nil {
		return nil, err
	}
	out := &cloudformation.DescribeChangeSetOutput{Status: c.status, Changes: c.changes, ChangeSetName: in.ChangeSetName, StackName: in.StackName}
	if c.reason != "" {
		out.StatusReason = &c.reason
	}
	return out, nil
}

func (a stacks) deleteChangeSet(in *cloudformation.DeleteChangeSetInput) (*cloudformation.DeleteChangeSetOutput, error) {
	s, err := a.stackNamed(in.StackName)
	if err != nil {
		return nil, err
	}
	delete(s.changes, aws.ToString(in.ChangeSetName))
	return &cloudformation.DeleteChangeSetOutput{}, nil
}

// executeChangeSet begins a change. The change ends when the stack has been described once.
func (a stacks) executeChangeSet(in *cloudformation.ExecuteChangeSetInput) (*cloudformation.ExecuteChangeSetOutput, error) {
	s, c, err := a.changeOf(in.StackName, in.ChangeSetName)
	if err != nil {
		return nil, err
	}
	if c.status != cf.ChangeSetStatusCreateComplete {
		return nil, &problem{400, "InvalidChangeSetStatus", "ChangeSet is not executable"}
	}
	clear(s.changes)
	s.status, s.next = cf.StackStatusUpdateInProgress, c.next
	if c.next == cf.StackStatusCreateComplete {
		s.status = cf.StackStatusCreateInProgress
	}
	for _, x := range c.changes {
		name, kind := *x.ResourceChange.LogicalResourceId, *x.ResourceChange.ResourceType
		if name == a.fails {
			s.event(name, kind, cf.ResourceStatusCreateFailed, a.reason)
			s.event("Key", "AWS::KMS::Key", cf.ResourceStatusCreateFailed, "Resource creation cancelled")
			s.next, a.fails = c.rollback, ""
			return &cloudformation.ExecuteChangeSetOutput{}, nil
		}
		status := cf.ResourceStatusCreateComplete
		if x.ResourceChange.Action == cf.ChangeActionModify {
			status = cf.ResourceStatusUpdateComplete
		}
		s.event(name, kind, status, "")
	}
	s.template, s.parameters, s.tags = c.template, c.parameters, c.tags
	for name, kind := range c.template.resources {
		if kind == "AWS::S3::Bucket" {
			a.buckets[s.physical(name, kind)] = &bucket{versioned: true, closed: true, kms: true, objects: map[string][]object{}}
		}
	}
	for name, at := range c.template.code {
		sum := sha256.Sum256(a.read(at.Bucket, at.Key, at.Version))
		a.functions[s.physical(name, "")] = base64.StdEncoding.EncodeToString(sum[:])
	}
	return &cloudformation.ExecuteChangeSetOutput{}, nil
}
