package deploying

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
	"github.com/aws/smithy-go"
)

// A namedStack gives access to the CloudFormation stack with a name. The stack need not exist.
type namedStack struct {
	Client *cloudformation.Client
	Name   string
	// Pause is called between two requests about the progress of an operation. It waits for a while.
	Pause func(ctx context.Context) error
}

// A stackDescription is the present state of a stack. Hidden values of parameters are "****".
type stackDescription struct {
	ID             string
	Status, Reason string // "" if the stack does not exist
	Parameters     map[string]string
	Tags           map[string]string
	Outputs        map[string]string
	Template       string
}

// noStack reports whether an error means that the stack does not exist.
func noStack(err error) bool {
	var api smithy.APIError
	return errors.As(err, &api) && api.ErrorCode() == "ValidationError" && strings.Contains(api.ErrorMessage(), "does not exist")
}

// Look reads the state of the stack and its template. A stack that does not exist is no error.
func (s namedStack) Look(ctx context.Context) (stackDescription, error) {
	d, err := s.describe(ctx, s.Name)
	if err != nil || d.Status == "" || d.Status == string(types.StackStatusReviewInProgress) {
		return d, err
	}
	got, err := s.Client.GetTemplate(ctx, &cloudformation.GetTemplateInput{StackName: &s.Name, TemplateStage: types.TemplateStageOriginal})
	if err != nil {
		return d, fmt.Errorf("read the template of the stack %s: %w", s.Name, err)
	}
	d.Template = aws.ToString(got.TemplateBody)
	return d, nil
}

func (s namedStack) describe(ctx context.Context, name string) (stackDescription, error) {
	got, err := s.Client.DescribeStacks(ctx, &cloudformation.DescribeStacksInput{StackName: &name})
	if noStack(err) {
		return stackDescription{}, nil
	}
	if err == nil && len(got.Stacks) != 1 {
		err = fmt.Errorf("the answer has %d stacks", len(got.Stacks))
	}
	if err != nil {
		return stackDescription{}, fmt.Errorf("look at the stack %s: %w", s.Name, err)
	}
	x := got.Stacks[0]
	d := stackDescription{
		ID: aws.ToString(x.StackId), Status: string(x.StackStatus), Reason: aws.ToString(x.StackStatusReason),
		Parameters: map[string]string{}, Tags: map[string]string{}, Outputs: map[string]string{},
	}
	for _, p := range x.Parameters {
		d.Parameters[aws.ToString(p.ParameterKey)] = aws.ToString(p.ParameterValue)
	}
	for _, t := range x.Tags {
		d.Tags[aws.ToString(t.Key)] = aws.ToString(t.Value)
	}
	for _, o := range x.Outputs {
		d.Outputs[aws.ToString(o.OutputKey)] = aws.ToString(o.OutputValue)
	}
	return d, nil
}

// Resources lists the stack's resources.
func (s namedStack) Resources(ctx context.Context) ([]types.StackResource, error) {
	got, err := s.Client.DescribeStackResources(ctx, &cloudformation.DescribeStackResourcesInput{StackName: &s.Name})
	if err != nil {
		return nil, fmt.Errorf("list the resources of the stack %s: %w", s.Name, err)
	}
	return got.StackResources, nil
}

// fresh reports whether the stack does not exist yet, so that the next change creates it.
func (d stackDescription) fresh() bool {
	return d.Status == "" || d.Status == string(types.StackStatusReviewInProgress)
}

// codeBucket returns the bucket that has the functions' code, according to the stack's template; "" if the
// template names none.
func (d stackDescription) codeBucket() string {
	m := placedBucket.FindStringSubmatch(d.Template)
	if m == nil {
		return ""
	}
	return m[1]
}

var placedBucket = regexp.MustCompile(`(?m)^ +CodeUri: { Bucket: "([^"]+)", `)

// A stackWish is the stack as the user requests it. The stack keeps the values of parameters that are not
// listed.
type stackWish struct {
	Template   stackTemplate
	Parameters map[string]string
	Tags       map[string]string
}

// differences returns the differences between the present stack and the requested stack w, as texts for people.
func (d stackDescription) differences(w stackWish) []string {
	if d.fresh() {
		return nil
	}
	out := templateDifferences(sameLines(d.Template), sameLines(w.Template.Text))
	for _, name := range slices.Sorted(maps.Keys(w.Parameters)) {
		hidden := slices.ContainsFunc(w.Template.Parameters, func(p stackParameter) bool { return p.Name == name && p.Hidden })
		old, there := d.Parameters[name]
		switch value := w.Parameters[name]; {
		case hidden:
			out = append(out, name+" = ****, which cannot be compared")
		case !there || old != value:
			out = append(out, fmt.Sprintf("%s = %q", name, value))
		}
	}
	if !maps.Equal(d.Tags, w.Tags) {
		out = append(out, "tags")
	}
	return out
}

// templateAddress returns the address at which CloudFormation reads a template.
// Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_CreateChangeSet.html
func templateAddress(at depotPlace, region string) string {
	domain := "amazonaws.com"
	if strings.HasPrefix(region, "cn-") {
		domain = "amazonaws.com.cn"
	}
	return fmt.Sprintf("https://s3.%s.%s/%s/%s?versionId=%s", region, domain, at.Bucket, at.Key, url.QueryEscape(at.Version))
}
