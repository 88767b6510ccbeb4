// Package policies judges a plan by Rego policies, as conftest does, with OPA as a library.
//
// It decides which rules of a policy directory deny a plan or warn of it, and whether the policies
// can be relied upon at all: a mistake in them is an [Error], and never a plan that passes. Three
// points are stricter than in conftest, where each ends in a silent pass: an error of a built-in
// function stops the judgement (conftest: the expression is undefined), a rule whose value is no
// collection of messages is an error (conftest: it is passed over), and so is an empty message. A
// reference without a value, say to an attribute that the plan lacks, stays undefined, so the rule
// denies nothing: that is the language.
//
// The package refuses to know files, networks, environments, clocks and chance, and so do the
// policies: functions that need one of them do not exist here (see [Set.Judge] for the time limit).
// A judgement follows from the files, the options and the plan alone. It refuses to know memory,
// too: within the time limit a policy may fill as much as it can, so a caller gives it a process
// that may die. Messages are the policy's, and can hold any value of the plan, sensitive ones, too:
// escaping and masking are the caller's.
//
// Sources: https://www.conftest.dev/ (rules and namespaces), https://www.conftest.dev/exceptions/,
// https://www.conftest.dev/options/#--data, https://www.openpolicyagent.org/docs/policy-reference,
// https://developer.hashicorp.com/terraform/internals/json-format (the input). Start at [Compile].
package policies
