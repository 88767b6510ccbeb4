//go:build linux

package lambdatest

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/pipeline/lambdatest/templates"
)

// This file checks the permissions for what AWS itself does around the functions. AWS assumes the roles of the
// functions, writes logs, takes messages from queues, and calls the functions. The template must allow each of
// these actions.

// around returns a listener that evaluates the template's policies for each occurrence around a function.
func (s *Stack) around(function, role string) func(occurrence) {
	return func(o occurrence) {
		if o == isAsked {
			// Source: https://docs.aws.amazon.com/lambda/latest/dg/urls-auth.html
			url := map[string][]string{"lambda:FunctionUrlAuthType": {"NONE"}, "lambda:InvokedViaFunctionUrl": {"true"}}
			for _, action := range []string{"lambda:InvokeFunctionUrl", "lambda:InvokeFunction"} {
				s.must(templates.Rights{Who: templates.Anonymous}, templates.Call{Action: action, Resource: s.Att(function + ".Arn"), Context: url})
			}
			return
		}
		s.must(templates.Rights{Who: "lambda.amazonaws.com"}, templates.Call{Action: "sts:AssumeRole", Resource: s.Att(role + ".Arn")})
		log := "/aws/lambda/" + s.Ref(function)
		s.each("AWS::Logs::LogGroup", func(name string, p map[string]any) {
			if s.resolver.Resolve(p["LogGroupName"]) != log {
				return
			}
			// Source: https://docs.aws.amazon.com/lambda/latest/dg/monitoring-cloudwatchlogs.html
			for _, action := range []string{"logs:CreateLogStream", "logs:PutLogEvents"} {
				s.must(s.rightsOf(role), templates.Call{Action: action, Resource: strings.TrimSuffix(s.Att(name+".Arn"), "*") + "log-stream:a"})
			}
		})
	}
}

// must evaluates a call that the policies must allow. If the policies do not allow the call, it is recorded in
// Denied.
func (s *Stack) must(x templates.Rights, c templates.Call) {
	if !s.ask(x, c) {
		s.denied(Request{Function: x.Who, Action: c.Action, Resource: c.Resource})
	}
}

// Tick makes a schedule of the template call its function.
func (s *Stack) Tick(schedule string) (Invocation, error) {
	aim := s.Template.Resources[schedule].Properties["Target"].(map[string]any)
	function, role := templates.Target(aim["Arn"]), templates.Target(aim["RoleArn"])
	s.must(templates.Rights{Who: "scheduler.amazonaws.com"}, templates.Call{
		Action: "sts:AssumeRole", Resource: s.Att(role + ".Arn"), Context: map[string][]string{"aws:SourceAccount": {AccountID}},
	})
	s.must(s.rightsOf(role), templates.Call{Action: "lambda:InvokeFunction", Resource: s.Att(function + ".Arn")})
	event := json.RawMessage(fmt.Sprint(aim["Input"]))
	return s.Functions[strings.ToLower(strings.TrimSuffix(function, "Function"))].Invoke(event)
}
