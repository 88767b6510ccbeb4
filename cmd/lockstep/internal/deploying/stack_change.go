package deploying

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
)

// changeSetName is the name of the change sets that Lockstep creates. At most one exists at a time.
const changeSetName = "lockstep-deploy"

// A stackChange is the effect of a change set on one resource.
type stackChange struct {
	Action   string // Add, Modify, Remove, Import, Dynamic
	Resource string
	Type     string
	Replaces string // "", "maybe", "yes"
}

// Prepare creates a change set, which would change the stack d to the requested stack w. It returns the
// changes; none if the stack is already as requested. address is the address of the new template. Prepare first
// deletes an older change set that was not executed.
func (s namedStack) Prepare(ctx context.Context, d stackDescription, w stackWish, address string) ([]stackChange, error) {
	if err := s.discard(ctx, d); err != nil {
		return nil, err
	}
	in := &cloudformation.CreateChangeSetInput{
		StackName: &s.Name, ChangeSetName: aws.String(changeSetName), ChangeSetType: types.ChangeSetTypeUpdate, TemplateURL: &address,
		Capabilities: []types.Capability{types.CapabilityCapabilityIam, types.CapabilityCapabilityAutoExpand},
	}
	if d.fresh() {
		in.ChangeSetType = types.ChangeSetTypeCreate
	}
	for _, p := range w.Template.Parameters {
		value, given := w.Parameters[p.Name]
		_, had := d.Parameters[p.Name]
		switch {
		case given:
			in.Parameters = append(in.Parameters, types.Parameter{ParameterKey: aws.String(p.Name), ParameterValue: &value})
		case had && !d.fresh():
			in.Parameters = append(in.Parameters, types.Parameter{ParameterKey: aws.String(p.Name), UsePreviousValue: aws.Bool(true)})
		}
	}
	for _, k := range slices.Sorted(maps.Keys(w.Tags)) {
		in.Tags = append(in.Tags, types.Tag{Key: aws.String(k), Value: aws.String(w.Tags[k])})
	}
	if _, err := s.Client.CreateChangeSet(ctx, in); err != nil {
		return nil, fmt.Errorf("make a change set of the stack %s: %w", s.Name, err)
	}
	return s.read(ctx, d)
}

// discard deletes an earlier change set that Lockstep created.
func (s namedStack) discard(ctx context.Context, d stackDescription) error {
	if d.Status == "" {
		return nil
	}
	_, err := s.Client.DeleteChangeSet(ctx, &cloudformation.DeleteChangeSetInput{StackName: &s.Name, ChangeSetName: aws.String(changeSetName)})
	var none *types.ChangeSetNotFoundException
	if err != nil && !errors.As(err, &none) {
		return fmt.Errorf("delete an old change set of the stack %s: %w", s.Name, err)
	}
	return nil
}

// read waits until the change set is created, and returns its changes.
func (s namedStack) read(ctx context.Context, d stackDescription) ([]stackChange, error) {
	var out []stackChange
	in := &cloudformation.DescribeChangeSetInput{StackName: &s.Name, ChangeSetName: aws.String(changeSetName)}
	for {
		got, err := s.Client.DescribeChangeSet(ctx, in)
		if err != nil {
			return nil, fmt.Errorf("read the change set of the stack %s: %w", s.Name, err)
		}
		switch reason := aws.ToString(got.StatusReason); {
		case got.Status == types.ChangeSetStatusCreatePending || got.Status == types.ChangeSetStatusCreateInProgress:
			if err := s.Pause(ctx); err != nil {
				return nil, err
			}
			continue
		case got.Status == types.ChangeSetStatusFailed && (strings.Contains(reason, "didn't contain changes") || strings.Contains(reason, "No updates are to be performed")):
			return nil, s.discard(ctx, d)
		case got.Status == types.ChangeSetStatusFailed:
			return nil, fmt.Errorf("CloudFormation cannot make a change set of the stack %s: %s", s.Name, reason)
		}
		for _, c := range got.Changes {
			out = append(out, stackChangeOf(c.ResourceChange))
		}
		if in.NextToken = got.NextToken; in.NextToken == nil {
			return out, nil
		}
	}
}

func stackChangeOf(c *types.ResourceChange) stackChange {
	if c == nil {
		return stackChange{Action: "unknown"}
	}
	out := stackChange{Action: string(c.Action), Resource: aws.ToString(c.LogicalResourceId), Type: aws.ToString(c.ResourceType)}
	switch c.Replacement {
	case types.ReplacementTrue:
		out.Replaces = "yes"
	case types.ReplacementConditional:
		out.Replaces = "maybe"
	}
	return out
}

// execute executes the change set, and waits until that is done. It calls onEvent with each event of the stack.
func (s namedStack) execute(ctx context.Context, onEvent func(stackEvent)) error {
	before, err := s.last(ctx)
	if err != nil {
		return err
	}
	if _, err := s.Client.ExecuteChangeSet(ctx, &cloudformation.ExecuteChangeSetInput{StackName: &s.Name, ChangeSetName: aws.String(changeSetName)}); err != nil {
		return fmt.Errorf("execute the change set of the stack %s: %w", s.Name, err)
	}
	return s.await(ctx, s.Name, before, onEvent)
}

// awaitChange waits until the operation in progress on the stack is done. It calls onEvent with each event of
// the stack.
func (s namedStack) awaitChange(ctx context.Context, onEvent func(stackEvent)) error {
	before, err := s.last(ctx)
	if err != nil {
		return err
	}
	return s.await(ctx, s.Name, before, onEvent)
}

// Remove deletes the stack, and waits until it is deleted. It calls onEvent with each event of the stack.
func (s namedStack) Remove(ctx context.Context, d stackDescription, onEvent func(stackEvent)) error {
	before, err := s.last(ctx)
	if err != nil {
		return err
	}
	if _, err := s.Client.DeleteStack(ctx, &cloudformation.DeleteStackInput{StackName: &s.Name}); err != nil {
		return fmt.Errorf("delete the stack %s: %w", s.Name, err)
	}
	return s.await(ctx, d.ID, before, onEvent) // by ID, because a deleted stack cannot be found by its name
}
