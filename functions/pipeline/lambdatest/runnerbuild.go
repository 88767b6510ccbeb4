//go:build linux

package lambdatest

import (
	"fmt"
	"net/http/httptest"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/pipeline/lambdatest/internal/codebuild"
	"github.com/lockstep-iac/lockstep/functions/pipeline/lambdatest/templates"
)

// serveBuilds starts the fake CodeBuild, which has no projects yet.
func (s *Stack) serveBuilds() {
	s.builds = &codebuild.Service{Projects: map[string]codebuild.Project{}, Log: s.Log, Fails: func(err error) { s.t.Error(err) }}
	server := httptest.NewServer(s.builds)
	s.Services.builds = server.URL
	s.t.Cleanup(server.Close)
	s.t.Cleanup(s.builds.Kill)
}

// makeProject creates a CodeBuild project of the template, for the function of the same name. Each build makes the
// AWS requests of its buildspec and of CodeBuild itself.
func (s *Stack) makeProject(name string, p map[string]any) {
	role, function := templates.Target(p["ServiceRole"]), strings.TrimSuffix(name, "Build")
	front := httptest.NewServer(s.newGate("build", role))
	s.t.Cleanup(front.Close)
	env := []string{"AWS_REGION=" + Region, "AWS_DEFAULT_REGION=" + Region, "AWS_ACCESS_KEY_ID=" + AccessKey, "AWS_SECRET_ACCESS_KEY=" + SecretKey}
	for _, service := range []string{"", "_S3", "_DYNAMODB", "_STS"} {
		env = append(env, "AWS_ENDPOINT_URL"+service+"="+front.URL)
	}
	for _, v := range p["Environment"].(map[string]any)["EnvironmentVariables"].([]any) {
		v := s.resolver.Resolve(v).(map[string]any)
		env = append(env, fmt.Sprintf("%s=%v", v["Name"], v["Value"]))
	}
	for k, v := range s.Env {
		env = append(env, k+"="+v)
	}
	begins := func(image string) {
		s.must(templates.Rights{Who: "codebuild.amazonaws.com"}, templates.Call{
			Action: "sts:AssumeRole", Resource: s.Att(role + ".Arn"), Context: map[string][]string{"aws:SourceArn": {s.Att(name + ".Arn")}},
		})
		s.must(s.rightsOf(role), templates.Call{Action: "lambda:GetFunction", Resource: FunctionARN(s.Ref(function + "Function"))})
		for _, action := range []string{"logs:CreateLogStream", "logs:PutLogEvents"} {
			s.must(s.rightsOf(role), templates.Call{Action: action, Resource: strings.TrimSuffix(s.Att(name+"Log.Arn"), "*") + "log-stream:a"})
		}
		if image != "" {
			s.must(s.rightsOf(role), templates.Call{Action: "ecr:GetAuthorizationToken", Resource: "*"})
			_, repository, _ := strings.Cut(strings.Split(image, "@")[0], "/")
			for _, action := range []string{"ecr:BatchCheckLayerAvailability", "ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer"} {
				s.must(s.rightsOf(role), templates.Call{Action: action, Resource: arn("ecr", "repository/"+repository)})
			}
		}
	}
	s.builds.Projects[s.Ref(name)] = codebuild.Project{Program: s.Bootstraps[strings.ToLower(function)], Env: env, Begins: begins}
}

// KillBuilds kills the processes of all builds at once, as an outage of CodeBuild would.
func (s *Stack) KillBuilds() { s.builds.Kill() }

// Images returns the images that replace those of the projects, one for each build that was started; "" for none.
func (s *Stack) Images() []string { return s.builds.Images() }

// Builds waits until all builds have ended, and returns the status of each, in the order of their starts.
func (s *Stack) Builds() []string { return s.builds.Statuses() }
