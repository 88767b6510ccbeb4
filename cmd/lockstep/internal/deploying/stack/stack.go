// Package stack is the deployment's stack in CloudFormation: its template and parameters, the
// differences to a wish, a change set that people read before it is executed, and its course.
//
// It refuses to know the contents of the template. Start at [Stack].
package stack

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

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/deploying/depot"
)

// A Stack is one by name.
type Stack struct {
	Client *cloudformation.Client
	Name   string
	// Pause waits until it is worth to ask again.
	Pause func(ctx context.Context) error
}

// A Description is a stack as it is. Hidden values of parameters are "****".
type Description struct {
	ID             string
	Status, Reason string // "": there is none
	Parameters     map[string]string
	Tags           map[string]string
	Outputs        map[string]string
	Template       string
}

// absent reports whether an error means that there is no such stack.
func absent(err error) bool {
	var api smithy.APIError
	return errors.As(err, &api) && api.ErrorCode() == "ValidationError" && strings.Contains(api.ErrorMessage(), "does not exist")
}

// Look describes the stack, with its template.
func (s Stack) Look(ctx context.Context) (Description, error) {
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

func (s Stack) describe(ctx context.Context, name string) (Description, error) {
	got, err := s.Client.DescribeStacks(ctx, &cloudformation.DescribeStacksInput{StackName: &name})
	if absent(err) {
		return Description{}, nil
	}
	if err == nil && len(got.Stacks) != 1 {
		err = fmt.Errorf("the answer has %d stacks", len(got.Stacks))
	}
	if err != nil {
		return Description{}, fmt.Errorf("look at the stack %s: %w", s.Name, err)
	}
	x := got.Stacks[0]
	d := Description{
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
func (s Stack) Resources(ctx context.Context) ([]types.StackResource, error) {
	got, err := s.Client.DescribeStackResources(ctx, &cloudformation.DescribeStackResourcesInput{StackName: &s.Name})
	if err != nil {
		return nil, fmt.Errorf("list the resources of the stack %s: %w", s.Name, err)
	}
	return got.StackResources, nil
}

// Fresh reports whether the next change creates the stack.
func (d Description) Fresh() bool {
	return d.Status == "" || d.Status == string(types.StackStatusReviewInProgress)
}

// CodeBucket is the bucket that the template's code is in, "" if it names none.
func (d Description) CodeBucket() string {
	m := placedBucket.FindStringSubmatch(d.Template)
	if m == nil {
		return ""
	}
	return m[1]
}

var placedBucket = regexp.MustCompile(`(?m)^ +CodeUri: { Bucket: "([^"]+)", `)

// A Wish is the stack as it is to be. Parameters that it does not name stay as they are.
type Wish struct {
	Template   Template
	Parameters map[string]string
	Tags       map[string]string
}

// Differences lists in words what is not as wished for.
func (d Description) Differences(w Wish) []string {
	if d.Fresh() {
		return nil
	}
	out := differences(same(d.Template), same(w.Template.Text))
	for _, name := range slices.Sorted(maps.Keys(w.Parameters)) {
		hidden := slices.ContainsFunc(w.Template.Parameters, func(p Parameter) bool { return p.Name == name && p.Hidden })
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

// Address is where CloudFormation reads a template.
// Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_CreateChangeSet.html
func Address(at depot.Place, region string) string {
	domain := "amazonaws.com"
	if strings.HasPrefix(region, "cn-") {
		domain = "amazonaws.com.cn"
	}
	return fmt.Sprintf("https://s3.%s.%s/%s/%s?versionId=%s", region, domain, at.Bucket, at.Key, url.QueryEscape(at.Version))
}
