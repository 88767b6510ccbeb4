package lab

import (
	"context"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/function"
)

// join is provider::lab::join(separator, words...).
type join struct{}

func (join) Metadata(_ context.Context, _ function.MetadataRequest, resp *function.MetadataResponse) {
	resp.Name = "join"
}

func (join) Definition(_ context.Context, _ function.DefinitionRequest, resp *function.DefinitionResponse) {
	resp.Definition = function.Definition{
		Summary:           "Joins words.",
		Parameters:        []function.Parameter{function.StringParameter{Name: "separator", AllowNullValue: true}},
		VariadicParameter: function.StringParameter{Name: "words"},
		Return:            function.StringReturn{},
	}
}

func (join) Run(ctx context.Context, req function.RunRequest, resp *function.RunResponse) {
	var separator *string
	var words []string
	if resp.Error = req.Arguments.Get(ctx, &separator, &words); resp.Error != nil {
		return
	}
	if separator == nil {
		separator = new(string)
	}
	resp.Error = resp.Result.Set(ctx, strings.Join(words, *separator))
}

// failing is provider::lab::failing(text), which never works.
type failing struct{}

func (failing) Metadata(_ context.Context, _ function.MetadataRequest, resp *function.MetadataResponse) {
	resp.Name = "failing"
}

func (failing) Definition(_ context.Context, _ function.DefinitionRequest, resp *function.DefinitionResponse) {
	resp.Definition = function.Definition{
		Parameters: []function.Parameter{function.StringParameter{Name: "text"}},
		Return:     function.StringReturn{},
	}
}

func (failing) Run(_ context.Context, _ function.RunRequest, resp *function.RunResponse) {
	resp.Error = function.NewArgumentFuncError(0, "this is never good enough")
}
