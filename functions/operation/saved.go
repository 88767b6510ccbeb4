package operation

import (
	"maps"

	"github.com/lockstep-iac/lockstep/engine/config/early"
	"github.com/lockstep-iac/lockstep/engine/config/loading"
	"github.com/lockstep-iac/lockstep/engine/config/source"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/language"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/plans/planfile"
	"github.com/lockstep-iac/lockstep/engine/provider/install/lockfile"
)

// PlanFile returns the content of a saved plan: the plan, the configuration and the providers. version is the
// engine's version. The caller adds the list of modules and the dependency lock file.
func (o *Operation) PlanFile(version string, p *plans.Plan) *planfile.File {
	f := &planfile.File{Engine: version, Language: o.Language, Plan: p, Config: map[string][]byte{}, Providers: o.Providers.Selections()}
	for name, file := range o.Config.Files {
		f.Config[name] = file.Bytes
	}
	return f
}

// LoadPlanned sets Config to the configuration in a saved plan. A plan in another language than Language is an
// error. installed returns installed modules. where has the directories and files for evaluating module sources;
// the variables are those of the plan. After an error, Config has the parts that could be read.
func (o *Operation) LoadPlanned(f *planfile.File, installed func(string) (source.Installed, bool), where early.Input) diags.Diagnostics {
	if f.Language != o.Language {
		return diags.Errorf(nil, "Plan in another version of the language",
			"The plan was made in the language of Terraform %s, and the language is now that of Terraform %s. Plan again. To apply this plan, set the former language: by `language` in lockstep.hcl, or by the environment variable %s.",
			f.Language.Release(), o.Language.Release(), language.Variable)
	}
	where.Given, where.Budget = f.Plan.Variables, o.Budget
	cfg, ds := loading.Load(loading.Input{Tree: source.Saved(withLock(f)), Installed: installed, Budget: o.Budget, Early: early.New(where), Language: f.Language, Planned: true})
	if cfg != nil {
		o.Config = cfg
	}
	return ds
}

// withLock returns the configuration's files in a plan with the dependency lock file, which says what the
// default registry is.
func withLock(f *planfile.File) map[string][]byte {
	if f.Lock == nil {
		return f.Config
	}
	files := maps.Clone(f.Config)
	files[lockfile.Name] = f.Lock
	return files
}
