// Package policies judges a plan by Rego policies, as conftest does, with OPA as a library.
//
// It returns which rules of a policy directory deny a plan or warn about it. A mistake in a policy is an
// [Error], and never lets a plan pass. Three points are stricter than in conftest, which silently lets the plan
// pass:
//
//   - An error in a built-in function stops the judgement. (conftest: the expression is undefined.)
//   - A rule whose value is no collection of messages is an error. (conftest: the rule is ignored.)
//   - An empty message is an error. (conftest: the message is ignored.)
//
// As usual in Rego, a reference without a value is undefined, for example to an attribute that the plan lacks.
// Then the rule denies nothing.
//
// A judgement depends only on the files, the options and the plan. Neither the package nor a policy can use
// files, networks, environment variables, clocks or random numbers: such functions do not exist here (see
// [Set.Judge] for the time limit). Memory is not limited: a policy may use any amount until the time limit, so
// the caller should run it in a process that may die. Messages come from the policy and may contain any value
// of the plan, even sensitive ones: the caller must escape and mask them.
//
// Sources: https://www.conftest.dev/ (rules and namespaces), https://www.conftest.dev/exceptions/,
// https://www.conftest.dev/options/#--data, https://www.openpolicyagent.org/docs/policy-reference,
// https://developer.hashicorp.com/terraform/internals/json-format (the input). Start at [Compile].
package policies
