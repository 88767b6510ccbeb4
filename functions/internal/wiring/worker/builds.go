package worker

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/codebuild"
	"github.com/aws/aws-sdk-go-v2/service/codebuild/types"
	"github.com/aws/smithy-go"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/buildrunner"
)

// builds starts builds of a CodeBuild project. A build runs the program of the function that starts it.
type builds struct {
	client  *codebuild.Client
	project string
}

// Start implements buildrunner.Service. If it is called twice with the same token within five minutes,
// CodeBuild starts only one build.
// Source: https://docs.aws.amazon.com/codebuild/latest/APIReference/API_StartBuild.html
func (b builds) Start(ctx context.Context, token, image string, m pipeline.Message) (string, error) {
	in := &codebuild.StartBuildInput{
		ProjectName: &b.project, IdempotencyToken: &token,
		EnvironmentVariablesOverride: []types.EnvironmentVariable{
			{Name: aws.String(messageVariable), Value: aws.String(string(pipeline.Encode(m))), Type: types.EnvironmentVariableTypePlaintext},
		},
	}
	if image != "" {
		// The project's role pulls the image. CodeBuild's own credentials are for its own images.
		in.ImageOverride, in.ImagePullCredentialsTypeOverride = &image, types.ImagePullCredentialsTypeServiceRole
		in.EnvironmentVariablesOverride = append(in.EnvironmentVariablesOverride, types.EnvironmentVariable{Name: aws.String(imageVariable), Value: &image, Type: types.EnvironmentVariableTypePlaintext})
	}
	out, err := b.client.StartBuild(ctx, in)
	var api smithy.APIError
	if errors.As(err, &api) {
		switch api.ErrorCode() {
		case "AccessDeniedException", "InvalidInputException", "ResourceNotFoundException":
			return "", &buildrunner.RefusedError{Err: err}
		}
	}
	if err != nil {
		return "", err
	}
	return aws.ToString(out.Build.Id), nil
}

// ends says how a build ended, by the status that CodeBuild reports. A status that is not in the map belongs to
// a build that is still running.
// Source: https://docs.aws.amazon.com/codebuild/latest/APIReference/API_Build.html
var ends = map[types.StatusType]buildrunner.End{
	types.StatusTypeSucceeded: buildrunner.Done,
	types.StatusTypeFailed:    buildrunner.Failed,
	types.StatusTypeStopped:   buildrunner.Stopped,
	types.StatusTypeTimedOut:  buildrunner.TimedOut,
	types.StatusTypeFault:     buildrunner.Faulty,
}

// Look implements buildrunner.Service.
func (b builds) Look(ctx context.Context, id string) (buildrunner.End, error) {
	out, err := b.client.BatchGetBuilds(ctx, &codebuild.BatchGetBuildsInput{Ids: []string{id}})
	if err != nil {
		return "", err
	}
	if len(out.Builds) == 0 {
		return buildrunner.Gone, nil
	}
	x := out.Builds[0]
	if !x.BuildComplete { // its process may still run
		return buildrunner.Working, nil
	}
	return ends[x.BuildStatus], nil
}

// Stop implements buildrunner.Service.
func (b builds) Stop(ctx context.Context, id string) error {
	_, err := b.client.StopBuild(ctx, &codebuild.StopBuildInput{Id: &id})
	return err
}
