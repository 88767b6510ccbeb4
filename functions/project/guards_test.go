package project

import (
	"strings"
	"testing"
)

// TestGuards is a table of settings whose blocks, or patterns, are for nothing: where they must hold something that is an error.
func TestGuards(t *testing.T) {
	t.Parallel()
	files := map[string]string{"live/net/main.tf": "resource \"terraform_data\" \"a\" {}\nterraform {\n  backend \"s3\" {\n    bucket = \"acme-states\"\n    key    = \"net/x\"\n  }\n}\n", "live/db/main.tf": "", "services/api/main.tf": "", "services/web/main.tf": "", "docs/x.md": ""}
	const projects = "project \"prod-net\" {\n  dir = \"live/net\"\n}\nproject \"db\" {\n  dir = \"live/db\"\n}\nproject \"svc-*\" {\n  dir = \"services/*\"\n}\n"
	block := func(kind, label, body string) string { return kind + " \"" + label + "\" {\n" + body + "}\n" }
	apply := func(pattern string) string {
		return block("require", "apply", "  projects  = [\""+pattern+"\"]\n  approvals = 1\n")
	}
	limits := func(items string) string { return "defaults {\n  provider_parallelism = { " + items + " }\n}\n" }
	for settings, want := range map[string]string{
		apply("live/net"):                       "",
		apply("live/net/"):                      "",
		apply("./live/net"):                     "",
		apply("live//net"):                      "",
		apply("live"):                           "",
		apply("live/**"):                        "",
		apply("prod-*"):                         "",
		apply("svc-api"):                        "",
		apply("Live/net"):                       `error: lockstep.hcl:11: Guard without projects: The pattern "Live/net" of the block require "apply" matches no project`,
		apply("{live,services}/{net,api}"):      "",
		apply("{live,services}/{net,{api,ap}}"): `error: lockstep.hcl:11: Guard without projects`,
		apply("{live,stage}/{net,db}"):          `error: lockstep.hcl:11: Guard without projects`,
		apply("live/nett"):                      `error: lockstep.hcl:11: Guard without projects: The pattern "live/nett"`,
		apply("prdo-*"):                         `error: lockstep.hcl:11: Guard without projects`,
		apply("{prod-net,svc-api}"):             "",
		apply("live/{net,d{b,b}}"):              "",
		apply("{live/net,live/app}"):            `error: lockstep.hcl:11: Guard without projects: The alternative "live/app" of the pattern "{live/net,live/app}" of the block require "apply" matches no project`,
		apply("{prod-net,svc-ap}"):              `error: lockstep.hcl:11: Guard without projects: The alternative "svc-ap" of the pattern "{prod-net,svc-ap}" of the block require "apply" matches no project. If you merge this, Lockstep blocks all applies until it is corrected. Did you mean "svc-api"?`,
		apply("live/{net,d{x,b}}"):              `error: lockstep.hcl:11: Guard without projects: The alternative "live/dx"`,
		apply("{live,services/api}"):            `error: lockstep.hcl:11: Guard without projects: The alternative "live" of`,
		apply("{live,live/net}"):                `error: lockstep.hcl:11: Guard without projects: The alternative "live" of`,
		apply("prod-net{,-eu}"):                 `error: lockstep.hcl:11: Guard without projects: The alternative "prod-net-eu"`,
		apply("live/n{et"):                      `error: lockstep.hcl:11: Invalid value: "live/n{et" is not a pattern`,
		apply(".\", \"./"):                      `error: lockstep.hcl:11: Guard without projects: The pattern "." of the block require "apply" matches no project. If you merge this, Lockstep blocks all applies until it is corrected. For all projects, write "**".`,
		apply("**"):                             "",
		block("require", "apply", "  projects = [\"live/net\"]\n"):                                                                                                  `error: lockstep.hcl:10: Block that requires nothing: The block require "apply" has no condition`,
		block("require", "apply", "  projects = [\"live/net\"]\n  override = [\"acme/sre\"]\n"):                                                                     `error: lockstep.hcl:10: Block that requires nothing`,
		block("require", "plan", "  codeowners = false\n  mergeable = false\n  up_to_date = false\n  resolved = false\n"):                                           `error: lockstep.hcl:10: Block that requires nothing: The block require "plan"`,
		block("require", "apply", "  alternative \"a\" {\n    mergeable = false\n  }\n"):                                                                            `error: lockstep.hcl:11: Empty alternative`,
		block("require", "apply", "  draft = false\n"):                                                                                                              "",
		block("require", "apply", "  alternative \"a\" {\n    approvals = 1\n  }\n"):                                                                                "",
		block("require", "apply", "  projects = \"live/net\"\n  approvals = 1\n"):                                                                                   `error: lockstep.hcl:11: Invalid value: The argument "projects" must be a list`,
		block("require", "apply", "  projects = []\n  approvals = 1\n"):                                                                                             `error: lockstep.hcl:11: No projects`,
		block("require", "apply", "  no_destroy = [\"{terraform_data,terraform_dat}\"]\n"):                                                                          `warning: lockstep.hcl:11: No such resources: no_destroy of the block require "apply" names the type "terraform_dat", but no project has a resource of this type`,
		block("require", "apply", "  no_destroy = [\"terraform_data \"]\n"):                                                                                         `and no address: write "terraform_data"`,
		block("require", "apply", "  no_destroy = [\"module.x\"]\n"):                                                                                                `and no address: write a type, as "aws_db_instance"`,
		block("require", "apply", "  no_destroy = [\"module.x.terraform_data.a\"]\n"):                                                                               `and no address: write "terraform_data"`,
		"stateful = [\"terraform_data\", \"acme_*\"]\n":                                                                                                             `warning: lockstep.hcl:10: No such resources: stateful names the type "acme_*", but no project has a resource of this type`,
		"stateful = [\"terraform_data.a\"]\n":                                                                                                                       `error: lockstep.hcl:10: Invalid value: "terraform_data.a" matches no resource type, which has small letters, digits and _ only, and no address: write "terraform_data"`,
		"exclude = [\"{services/web,legacy}\"]\n":                                                                                                                   `warning: lockstep.hcl:10: Pattern without directories: The alternative "legacy" of the pattern "{services/web,legacy}" in exclude`,
		"allow {\n  branches = [\"{main,refs/heads/x}\"]\n}\n":                                                                                                      `warning: lockstep.hcl:11: Pattern without branches`,
		"allow {\n  states = [\"s3://acme-states/{net,netw}/**\"]\n}\n":                                                                                             `warning: lockstep.hcl:11: Pattern without states: The argument states allows "s3://acme-states/netw/**", but no project has its state there`,
		"project \"n\" {\n  dir = \"live/net\"\n  workspace = \"n\"\n  when_changed = [\"{live/net,live/ap}/**\"]\n}\n":                                             `warning: lockstep.hcl:10: Pattern without files: The alternative "live/ap/**" of the pattern "{live/net,live/ap}/**" in when_changed of the project "n" matches no file`,
		"project \"n\" {\n  dir = \"live/net\"\n  workspace = \"n\"\n  depends_on = [\"{db,dbs}\"]\n}\n":                                                            `warning: lockstep.hcl:13: No such projects: The alternative "dbs" of the pattern "{db,dbs}" in depends_on`,
		block("policy", "p", "  projects = [\"nett\"]\n"):                                                                                                           `error: lockstep.hcl:11: Guard without projects: The pattern "nett" of the block policy "p"`,
		block("gate", "p", "  projects = [\"nett\"]\n  function = \"arn:aws:lambda:eu-west-1:111122223333:function:lockstep-gate-x\"\n"):                            `error: lockstep.hcl:11: Guard without projects: The pattern "nett" of the block gate "p"`,
		block("hook", "p", "  projects = [\"nett\"]\n  on = [\"before_apply\"]\n  function = \"arn:aws:lambda:eu-west-1:111122223333:function:lockstep-hook-x\"\n"): `error: lockstep.hcl:11: Guard without projects: The pattern "nett" of the block hook "p"`,
		block("hook", "p", "  projects = [\"nett\"]\n  on = [\"after_apply\"]\n  function = \"arn:aws:lambda:eu-west-1:111122223333:function:lockstep-hook-x\"\n"):  `warning: lockstep.hcl:11: Pattern without projects: The pattern "nett" of the block hook "p"`,
		block("notify", "p", "  projects = [\"nett\"]\n  on = [\"applied\"]\n  url = \"https://x.example\"\n  secret = \"arn:aws:secretsmanager:eu-west-1:111122223333:secret:lockstep-notify/x-AbCdEf\"\n"): `warning: lockstep.hcl:11: Pattern without projects: The pattern "nett" of the block notify "p"`,
		block("require", "apply", "  no_destroy = [\"terraform_data.db\"]\n"):                   `error: lockstep.hcl:11: Invalid value: "terraform_data.db" matches no resource type, which has small letters, digits and _ only, and no address: write "terraform_data"`,
		block("require", "apply", "  no_destroy = [\"Terraform_data\"]\n"):                      `error: lockstep.hcl:11: Invalid value: "Terraform_data" matches no resource type`,
		block("require", "apply", "  no_destroy = [\"terraform_*\"]\n"):                         "",
		block("require", "apply", "  no_destroy = [\"aws_db_instance\"]\n"):                     `warning: lockstep.hcl:11: No such resources: no_destroy of the block require "apply" names the type "aws_db_instance", but no project has a resource of this type`,
		block("require", "apply", "  alternative \"a\" {\n    no_destroy = [\"aws_x\"]\n  }\n"): `warning: lockstep.hcl:12: No such resources`,
		limits("terraform = 1"):                                                                                  "",
		limits("\"terraform.io/builtin/terraform\" = 2"):                                                         "",
		limits("aws = 4"):                                                                                        `warning: lockstep.hcl:11: No such provider: provider_parallelism names the provider "aws", but no project requires it.`,
		limits("terraform = 1\n    terrafrom = 1"):                                                               `warning: lockstep.hcl:12: No such provider: provider_parallelism names the provider "terrafrom", but no project requires it. Did you mean "terraform"?`,
		limits("\"registry.example.com/hashicorp/x\" = 1"):                                                       `warning: lockstep.hcl:11: No such provider`,
		"exclude = [\"legacy\"]\n":                                                                               `warning: lockstep.hcl:10: Pattern without directories: The pattern "legacy" in exclude`,
		"exclude = [\"services/web/\"]\n":                                                                        "",
		"exclude = [\"./services/web\"]\n":                                                                       "",
		"allow {\n  branches = [\"release/\"]\n}\n":                                                              `warning: lockstep.hcl:11: Pattern without branches: No branch can have a name like "release/"`,
		"allow {\n  branches = [\"refs/heads/x\"]\n}\n":                                                          `warning: lockstep.hcl:11: Pattern without branches`,
		"allow {\n  branches = [\"release/*\"]\n}\n":                                                             "",
		"environment \"prod\" {\n  branches = [\"refs/heads/main\"]\n}\n":                                        `warning: lockstep.hcl:11: Pattern without branches: No branch can have a name like "refs/heads/main"`,
		"environment \"prod\" {\n  branches = [\"main\"]\n}\n":                                                   "",
		"allow {\n  states = [\"s3://acme-states/netw/**\"]\n}\n":                                                `warning: lockstep.hcl:11: Pattern without states: The argument states allows "s3://acme-states/netw/**", but no project has its state there`,
		"allow {\n  states = [\"s3://acme-states/net/**\"]\n}\n":                                                 "",
		"project \"n\" {\n  dir = \"live/net\"\n  workspace = \"n\"\n  when_changed = [\"typo/**\"]\n}\n":        `warning: lockstep.hcl:10: Pattern without files: The pattern "typo/**" in when_changed of the project "n" matches no file`,
		"project \"n\" {\n  dir = \"live/net\"\n  workspace = \"n\"\n  when_changed = [\"!live/net/*.md\"]\n}\n": `warning: lockstep.hcl:10: Patterns that match nothing: All patterns in when_changed of the project "n" exclude files (!)`,
		"project \"n\" {\n  dir = \"live/net\"\n  workspace = \"n\"\n  when_changed = [\"docs/\", \"./live/net\", \"{dir}\"]\n}\n": "",
		"project \"n-*\" {\n  dir = \"services/*\"\n  workspace = \"n\"\n  when_changed = [\"services/*/**\"]\n}\n":                `warning: lockstep.hcl:10: Pattern of all projects: The pattern "services/*/**" in when_changed is for the directories of all projects of this block, so a change of one plans all of them. Write "{dir}/**"`,
		"project \"n-*\" {\n  dir = \"services/*\"\n  workspace = \"n\"\n  when_changed = [\"{dir}/**\", \"docs/**\"]\n}\n":        "",
	} {
		r, ds := Discover(tree(with(files, FileName+"="+projects+settings)))
		got := said(append(ds, r.Unguarded...))
		if (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s\nsays %s\nwant %s", settings, got, want)
		}
		if n := strings.Count(got, "lockstep.hcl:"); n > 1 {
			t.Errorf("%s\nsays %d times: %s", settings, n, got)
		}
		if held := strings.Contains(want, "Guard without"); r.Unguarded.HasErrors() != held {
			t.Errorf("%s: %v", settings, r.Unguarded)
		}
	}
}

// TestPathsOfPatterns holds that patterns of paths are cleaned as in commands, that a directory is for all below it, and that a pattern
// can name the project's own directory.
func TestPathsOfPatterns(t *testing.T) {
	t.Parallel()
	files := map[string]string{"net/main.tf": "", "net/x.md": "", "services/a/main.tf": "", "services/b{/main.tf": "", "docs/x.md": "", "docs/deep/y.md": ""}
	for _, c := range []struct{ patterns, change, want string }{
		{`"docs/"`, "docs/deep/y.md=1", "net"},
		{`"docs"`, "docs/x.md=1", "net"},
		{`"./docs/**"`, "docs/x.md=1", "net"},
		{`"docs", "!docs/deep/"`, "docs/deep/y.md=1", ""},
		{`"**/**/**/y.md"`, "docs/deep/y.md=1", "net"},
		{`"{dir}/*.md"`, "net/x.md=1", "net"},
		{`"{dir}/*.md"`, "docs/x.md=1", ""},
	} {
		all := with(files, FileName+"=project \"net\" {\n  dir = \"net\"\n  when_changed = ["+c.patterns+"]\n}\n")
		if got := touchedBy(t, all, with(all, c.change)); got != c.want {
			t.Errorf("%s: %s touches %q", c.patterns, c.change, got)
		}
	}
	all := with(files, FileName+"=project \"*\" {\n  dir = \"services/*\"\n  when_changed = [\"{dir}/*.txt\"]\n}\nproject \"b\" {\n  dir = \"services/b{\"\n  when_changed = [\"{dir}/*.txt\"]\n}\n")
	for change, want := range map[string]string{"services/a/x.txt=1": "a", "services/b{/x.txt=1": "b"} {
		if got := touchedBy(t, all, with(all, change)); got != want {
			t.Errorf("%s touches %q", change, got)
		}
	}
}
