package contract

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

//go:embed webhooks.json
var webhookSchemas []byte

// compiler parses the schemas of webhooks, once a process.
var compiler = sync.OnceValues(func() (*jsonschema.Compiler, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(webhookSchemas))
	if err != nil {
		return nil, fmt.Errorf("read the schemas of webhooks: %w", err)
	}
	c := jsonschema.NewCompiler()
	// The library is stricter about these formats than GitHub, which sends templates in place of addresses, and
	// empty addresses.
	for _, name := range []string{"uri", "uri-template"} {
		c.RegisterFormat(&jsonschema.Format{Name: name, Validate: address})
	}
	if err := c.AddResource("webhooks.json", doc); err != nil {
		return nil, fmt.Errorf("read the schemas of webhooks: %w", err)
	}
	return c, nil
})

func address(v any) error {
	if s, ok := v.(string); ok {
		_, err := url.Parse(s)
		return err
	}
	return nil
}

// compiling guards compiler, which is not safe for concurrent use.
var compiling sync.Mutex

// CheckWebhook returns an error that says how a webhook's payload deviates from the schema of the event; nil if
// it does not.
func CheckWebhook(event string, payload []byte) error {
	c, err := compiler()
	if err != nil {
		return err
	}
	of := struct{ Action string }{"event"} // which the schema names one without
	if err := json.Unmarshal(payload, &of); err != nil {
		return fmt.Errorf("%s: it is no JSON: %w", event, err)
	}
	compiling.Lock()
	schema, err := c.Compile(fmt.Sprintf("webhooks.json#/definitions/%s$%s", event, of.Action))
	compiling.Unlock()
	if err != nil {
		return fmt.Errorf("%s %s: GitHub has no such event, or its schemas were cut too short: %w", event, of.Action, err)
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(payload))
	if err != nil {
		return fmt.Errorf("%s: it is no JSON: %w", event, err)
	}
	if err := schema.Validate(v); err != nil {
		return fmt.Errorf("%s %s: %s", event, of.Action, strings.Join(leaves(err), "; "))
	}
	return nil
}

// leaves returns the errors of a validation, each with its place in the payload.
func leaves(err error) []string {
	var v *jsonschema.ValidationError
	if !errors.As(err, &v) {
		return []string{err.Error()}
	}
	if len(v.Causes) == 0 {
		return []string{v.Error()}
	}
	var all []string
	for _, c := range v.Causes {
		all = append(all, leaves(c)...)
	}
	return all
}
