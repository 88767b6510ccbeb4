//go:build linux

package lambdatest

import (
	"fmt"
	"net/http/httptest"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/pipeline/lambdatest/internal/codebuild"
	"github.com/lockstep-iac/lockstep/functions/pipeline/lambdatest/templates"
)

// serveBuilds starts the fake CodeBuild, which has no project yet.
func (s *Stack) serveBuilds() {
	s.builds = &codebuild.Service{Program: s.Bootstraps["apply"], Log: s.Log, Fails: func(err error) { s.t.Error(err) }}
	server := httptest.NewServer(s.builds)
	s.Services.builds = server.URL
	s.t.Cleanup(server.Close)
	s.t.Cleanup(s.builds.Kill)
}

// makeProject creates the CodeBuild project of the template. Each build makes the AWS requests of its buildspec
// and of CodeBuild itself.
func (s *Stack) makeProject(name string, p map[string]any) {
	role := templates.Target(p["ServiceRole"])
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
	s.builds.Project, s.builds.Env = s.Ref(name), env
	s.builds.Begins = func() {
		s.must(templates.Rights{Who: "codebuild.amazonaws.com"}, templates.Call{
			Action: "sts:AssumeRole", Resource: s.Att(role + ".Arn"), Context: map[string][]string{"aws:SourceArn": {s.Att(name + ".Arn")}},
		})
		s.must(s.rightsOf(role), templates.Call{Action: "lambda:GetFunction", Resource: FunctionARN(s.Ref("ApplyFunction"))})
		for _, action := range []string{"logs:CreateLogStream", "logs:PutLogEvents"} {
			s.must(s.rightsOf(role), templates.Call{Action: action, Resource: strings.TrimSuffix(s.Att("ApplyBuildLog.Arn"), "*") + "log-stream:a"})
		}
	}
}

// KillBuilds kills the processes of all builds at once, as an outage of CodeBuild would.
func (s *Stack) KillBuilds() { s.builds.Kill() }

// Builds returns the status of each build, in the order of their starts.
func (s *Stack) Builds() []string { return s.builds.Statuses() }
