package contract

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/validator"
)

//go:embed github.graphql
var graphQLSchema string

var loadGraphQL = sync.OnceValues(func() (*ast.Schema, error) {
	return gqlparser.LoadSchema(&ast.Source{Name: "github.graphql", Input: graphQLSchema})
})

// checkGraphQL returns an error that says how a query or its answer deviates from the schema; nil if neither
// does. An answer with errors may have any data.
func checkGraphQL(sent, answer []byte) error {
	schema, err := loadGraphQL()
	if err != nil {
		return fmt.Errorf("read the schema of GitHub's GraphQL API: %w", err)
	}
	var q struct {
		Query     string
		Variables map[string]any
	}
	if err := json.Unmarshal(sent, &q); err != nil {
		return fmt.Errorf("it is no JSON: %w", err)
	}
	doc, faults := gqlparser.LoadQueryWithRules(schema, q.Query, nil)
	if len(faults) > 0 {
		return faults
	}
	op := doc.Operations[0]
	if _, err := validator.VariableValues(schema, op, q.Variables); err != nil {
		return err
	}
	var a struct {
		Data   any
		Errors []any
	}
	if err := json.Unmarshal(answer, &a); err != nil {
		return fmt.Errorf("the answer is no JSON: %w", err)
	}
	if len(a.Errors) > 0 {
		return nil
	}
	return selected("data", op.SelectionSet, a.Data)
}

// selected returns an error unless the value v has exactly the members that a query selects. The error names
// the value by its path, the parameter at.
func selected(at string, set ast.SelectionSet, v any) error {
	if list, ok := v.([]any); ok {
		for _, x := range list {
			if err := selected(at, set, x); err != nil {
				return err
			}
		}
		return nil
	}
	if v == nil || len(set) == 0 {
		return nil
	}
	o, ok := v.(map[string]any)
	if !ok || len(o) != len(set) {
		return fmt.Errorf("%s: it does not have the members of the query", at)
	}
	for _, s := range set {
		f := s.(*ast.Field)
		x, ok := o[f.Alias]
		if !ok || x == nil && f.Definition.Type.NonNull {
			return fmt.Errorf("%s: it has no %s", at, f.Name)
		}
		if err := selected(strings.Join([]string{at, f.Alias}, "/"), f.SelectionSet, x); err != nil {
			return err
		}
	}
	return nil
}
