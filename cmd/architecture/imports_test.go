package architecture

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// allowed holds the packages of ours that a package may import, by directory. A name
// with /... stands for everything below, too. A package without an entry may import none
// of ours, and a permission without an import fails the test. Arrows point down: mains ->
// functions/pipeline -> github, statebackend, engine, which are three islands without bridges.
var allowed = map[string][]string{
	"cmd/lockstep": {"cmd/lockstep/internal/demo", "cmd/lockstep/internal/...", "cmd/lockstep/internal/machine", "engine/walk"},

	"cmd/lockstep/internal/cli":          {"engine/...", "functions/workdir", "statebackend/kms"},
	"cmd/lockstep/internal/opening":      {"cmd/lockstep/internal/cli", "engine/...", "statebackend/...", "functions/operation", "functions/workdir"},
	"cmd/lockstep/internal/authoring":    {"cmd/lockstep/internal/cli", "cmd/lockstep/internal/opening", "engine/...", "functions/workdir"},
	"cmd/lockstep/internal/changing":     {"functions/operation", "cmd/lockstep/internal/cli", "cmd/lockstep/internal/opening", "engine/...", "functions/workdir"},
	"cmd/lockstep/internal/preparing":    {"functions/pipeline/awsstore", "cmd/lockstep/internal/cli", "cmd/lockstep/internal/opening", "engine/...", "statebackend", "functions/workdir", "engine/hosts", "functions/modules/buckets", "engine/config/...", "engine/provider/install/cliconfig"},
	"cmd/lockstep/internal/statekeeping": {"functions/operation", "cmd/lockstep/internal/cli", "cmd/lockstep/internal/opening", "engine/...", "statebackend/...", "functions/workdir"},
	"cmd/lockstep/internal/surveying":    {"functions/pipeline/rehearsing", "cmd/lockstep/internal/cli", "engine/diags", "functions/project", "functions/project/atlantis", "functions/project/grammar", "functions/project/order"},
	"cmd/lockstep/internal/deploying":    {"functions/pipeline/intake", "functions/pipeline/roster", "functions/pipeline/sharing", "functions/pricing", "cmd/lockstep/internal/cli", "github"},
	"infra/awstest":                      {},

	"github": {},

	"cmd/lockstep/internal/serving": {"cmd/lockstep/internal/cli", "cmd/lockstep/internal/demo", "cmd/lockstep/internal/machine", "functions/...", "github", "functions/comment/rulings", "functions/pipeline", "functions/pipeline/awsstore", "functions/pipeline/gates", "functions/pipeline/localstore", "functions/pipeline/questions"},

	"cmd/release":                   {},
	"cmd/clients":                   {},
	"internal/golden":               {},
	"cmd/lockstep/internal/demo":    {"cmd/lockstep/internal/machine", "functions/comment", "functions/page", "functions/pipeline/...", "functions/workdir", "github/...", "statebackend/...", "engine/..."},
	"cmd/lockstep/internal/machine": {"functions/...", "github", "engine/plans/counting", "functions/project/environments"},

	"functions/internal/wiring":                        {"functions/pipeline", "functions/pipeline/awsstore", "functions/pipeline/intake", "functions/pipeline/roster", "functions/pipeline/sharing", "functions/pipeline/tarballs", "functions/places", "functions/shield", "github"},
	"functions/internal/wiring/worker":                 {"functions/pipeline/callouts", "functions/confine", "functions/pipeline", "functions/pipeline/apart", "functions/pipeline/dispatch", "functions/pipeline/executor", "functions/pipeline/jobs", "functions/pipeline/awsstore", "functions/pipeline/modules", "functions/pipeline/sessions", "functions/internal/wiring", "functions/assembly", "engine/...", "functions/project/environments", "functions/pipeline/building", "github"},
	"functions/webhook":                                {"functions/internal/wiring"},
	"functions/plan":                                   {"functions/internal/wiring/..."},
	"functions/apply":                                  {"functions/internal/wiring/..."},
	"functions/janitor":                                {"functions/pipeline", "functions/pipeline/dispatch", "functions/pipeline/reconcile", "functions/internal/wiring", "functions/assembly"},
	"functions/comment":                                {"functions/comment/internal/ends", "functions/comment/internal/recovering", "functions/comment/internal/queues", "functions/comment/internal/misread", "functions/comment/internal/others", "functions/comment/internal/precedence", "functions/comment/internal/sums", "functions/comment/internal/turns", "functions/comment/grammar", "functions/comment/markdown", "functions/comment/rulings", "engine/plans/counting", "functions/comment/internal/tagged", "functions/comment/planname", "functions/comment/reasons", "functions/comment/internal/verbs"},
	"functions/comment/outcomes":                       {"engine/plans/counting", "functions/comment", "functions/comment/internal/sums"},
	"functions/comment/grammar":                        {},
	"functions/comment/internal/tagged":                {},
	"functions/comment/planname":                       {"functions/comment/markdown"},
	"functions/comment/reasons":                        {"functions/comment/grammar", "functions/comment/internal/tagged", "functions/comment/markdown", "functions/comment/planname", "functions/comment/rulings"},
	"functions/project":                                {"functions/project/internal/blocks", "engine/budget", "engine/config/...", "engine/parsing", "engine/constraint", "engine/provider/install/...", "engine/addrs", "engine/diags", "functions/places", "functions/project/atlantis", "functions/project/environments", "functions/project/grammar", "functions/project/order", "functions/project/requirements", "functions/project/endpoints", "functions/project/links"},
	"functions/project/order":                          {},
	"functions/project/links":                          {"engine/budget", "engine/diags", "engine/parsing"},
	"functions/pipeline/runs":                          {"functions/comment/notes", "functions/project/order", "functions/comment", "functions/comment/grammar", "functions/pipeline", "functions/places", "functions/project", "github", "functions/comment/rulings", "engine/plans/counting", "functions/comment/reasons"},
	"functions/pipeline/runs/runstest":                 {"functions/pipeline/runs", "functions/project/order"},
	"functions/pipeline/internal/admission":            {"functions/comment", "functions/comment/grammar", "functions/comment/reasons", "functions/comment/rulings", "functions/pipeline", "functions/pipeline/runs", "functions/places", "functions/project", "github"},
	"functions/pipeline":                               {"functions/comment/grammar", "github"},
	"functions/internal/policies":                      {},
	"functions/pipeline/rehearsing":                    {"functions/pipeline/evidence", "functions/pipeline/jobs", "functions/project/requirements", "functions/pipeline/internal/judging", "functions/project"},
	"functions/pipeline/internal/judging":              {"functions/internal/policies", "functions/pipeline/jobs", "functions/pipeline/runs", "functions/project/requirements"},
	"functions/pipeline/callouts":                      {"engine/hosts", "functions/pipeline/jobs", "functions/pipeline/runs", "functions/project/endpoints", "functions/project/requirements", "engine/plans/counting", "functions/comment/reasons", "functions/comment/outcomes"},
	"functions/pipeline/internal/deploying":            {"functions/comment/outcomes", "functions/pipeline", "functions/pipeline/evidence", "functions/pipeline/internal/ledger", "functions/pipeline/runs", "github"},
	"functions/pipeline/internal/hooking":              {"functions/pipeline/internal/admission", "functions/comment", "functions/comment/reasons", "functions/pipeline/evidence", "functions/pipeline/jobs"},
	"functions/pipeline/internal/telling":              {"functions/pipeline", "functions/pipeline/evidence", "functions/pipeline/internal/ledger", "functions/pipeline/jobs"},
	"functions/pipeline/showing":                       {"functions/comment", "functions/pipeline", "functions/pipeline/internal/ledger", "functions/pipeline/runs", "functions/pipeline/internal/checking"},
	"functions/pipeline/questions":                     {"functions/pipeline", "functions/pipeline/gates", "functions/pipeline/runs", "github"},
	"functions/project/endpoints":                      {"functions/project/internal/blocks"},
	"functions/pipeline/internal/censoring":            {"engine/...", "functions/internal/redacting"},
	"functions/pipeline/internal/windows":              {"engine/funcs"},
	"functions/pipeline/executor":                      {"functions/pipeline/apart", "functions/pipeline/modules", "functions/pipeline/internal/effecting", "functions/comment/notes", "functions/pipeline/internal/windows", "functions/pipeline/internal/censoring", "functions/pipeline/internal/gathering", "functions/project/links", "functions/pipeline/internal/judging", "functions/project/requirements", "functions/comment", "functions/comment/markdown", "functions/comment/grammar", "functions/internal/encrypting", "functions/operation", "functions/pipeline/jobs", "functions/pipeline/internal/remotestates", "functions/pipeline/runs", "functions/places", "functions/internal/redacting", "functions/workdir", "statebackend/...", "engine/...", "functions/pipeline/internal/sealing"},
	"functions/places":                                 {},
	"functions/pipeline/sessions":                      {"statebackend/s3", "functions/pipeline/jobs", "functions/places"},
	"functions/pipeline/awsstore":                      {"functions/pipeline"},
	"functions/pipeline/reconcile":                     {"functions/comment/grammar", "functions/pipeline", "functions/pipeline/dispatch", "functions/pipeline/evidence", "functions/project", "functions/pipeline/intake", "functions/pipeline/internal/ledger", "functions/pipeline/internal/openplans", "functions/pipeline/runs", "github"},
	"functions/pipeline/localstore":                    {"engine/walk", "functions/pipeline"},
	"functions/page":                                   {},
	"functions/internal/redacting":                     {},
	"functions/internal/threats":                       {},
	"functions/pipeline/lambdatest":                    {"functions/comment/grammar", "functions/pipeline", "functions/pipeline/lambdatest/templates", "github", "statebackend/statebackendtest", "functions/pipeline/lambdatest/internal/codebuild", "functions/pipeline/lambdatest/internal/metering", "functions/pricing"},
	"functions/pipeline/lambdatest/templates":          {"statebackend/statebackendtest"},
	"functions/pipeline/internal/memory":               {"functions/pipeline"},
	"functions/confine":                                {},
	"functions/pipeline/apart":                         {"functions/pipeline/rehearsing", "functions/project/requirements", "engine/budget", "functions/comment", "functions/comment/markdown", "functions/confine", "functions/pipeline/jobs", "functions/pipeline/runs", "functions/project", "github"},
	"functions/pipeline/modules":                       {"functions/modules/buckets", "engine/diags", "engine/hosts", "functions/pipeline/apart", "functions/pipeline/jobs", "github", "engine/config/..."},
	"functions/pipeline/dispatch":                      {"functions/comment", "functions/comment/grammar", "functions/comment/reasons", "functions/pipeline", "functions/pipeline/building", "functions/pipeline/evidence", "functions/pipeline/intake", "functions/pipeline/internal/admission", "functions/pipeline/internal/applyrun", "functions/pipeline/internal/outward", "functions/pipeline/internal/foreseeing", "functions/pipeline/internal/ledger", "functions/pipeline/internal/openplans", "functions/pipeline/internal/pacing", "functions/pipeline/internal/planrun", "functions/pipeline/internal/rechecking", "functions/pipeline/internal/report", "functions/pipeline/internal/reserving", "functions/pipeline/internal/stopping", "functions/pipeline/jobs", "functions/pipeline/runs", "functions/places", "github"},
	"functions/pipeline/building":                      {"functions/pipeline", "functions/pipeline/internal/ledger", "functions/pipeline/runs"},
	"functions/pipeline/intake":                        {"functions/comment", "functions/comment/notices", "functions/comment/grammar", "functions/pipeline", "github"},
	"functions/pipeline/internal/reserving":            {"functions/pipeline/internal/admission", "functions/comment", "functions/pipeline/evidence", "functions/pipeline/internal/ledger", "functions/pipeline/internal/openplans", "functions/pipeline/runs", "functions/comment/reasons"},
	"functions/pipeline/internal/stopping":             {"functions/pipeline/internal/admission", "engine/walk", "functions/comment", "functions/pipeline/evidence", "functions/pipeline/internal/ledger", "functions/pipeline/runs", "functions/comment/reasons"},
	"functions/pipeline/jobs":                          {"engine/addrs", "functions/project/links", "functions/project/requirements", "engine/diags", "engine/render", "functions/comment", "functions/comment/markdown", "functions/comment/notices", "functions/comment/grammar", "functions/pipeline/runs", "functions/places", "functions/project", "github", "functions/project/environments", "engine/plans/counting", "functions/pipeline/internal/sealing", "functions/comment/reasons", "functions/project/endpoints", "functions/pipeline"},
	"functions/internal/wiring/handling":               {"functions/pipeline", "functions/pipeline/dispatch", "functions/pipeline/evidence", "functions/internal/wiring"},
	"functions/internal/wiring/pack":                   {},
	"functions/pipeline/internal/automerging":          {"functions/comment", "functions/pipeline/evidence", "functions/pipeline/internal/ledger", "functions/pipeline/internal/report", "functions/pipeline/runs", "github", "functions/pipeline"},
	"functions/pipeline/internal/applyrun":             {"functions/pipeline/internal/admission", "functions/comment/notes", "functions/comment", "functions/comment/planname", "functions/comment/markdown", "functions/comment/rulings", "functions/pipeline", "functions/pipeline/evidence", "functions/pipeline/jobs", "functions/pipeline/internal/ledger", "functions/pipeline/internal/openplans", "functions/pipeline/internal/planrun", "functions/pipeline/internal/report", "functions/pipeline/internal/reserving", "functions/pipeline/runs", "functions/pipeline/internal/stopping", "functions/project", "github", "functions/comment/reasons", "functions/pipeline/internal/hooking", "functions/project/endpoints", "functions/pipeline/building", "functions/project/environments", "functions/comment/notices"},
	"functions/pipeline/evidence":                      {"functions/pipeline/internal/admission", "functions/comment/notes", "functions/project/links", "functions/project/order", "engine/provider/install/lockfile", "functions/comment", "functions/pipeline", "functions/pipeline/jobs", "functions/pipeline/internal/ledger", "functions/pipeline/runs", "functions/places", "functions/project", "github", "functions/comment/rulings", "functions/pipeline/internal/factfinding", "functions/pipeline/gates", "functions/project/requirements", "functions/internal/encrypting", "functions/pipeline/internal/sealing", "functions/project/environments", "functions/comment/reasons", "functions/comment/planname", "functions/project/endpoints", "functions/pipeline/questions"},
	"functions/pipeline/internal/ledger":               {"engine/plans/counting", "engine/provider/install/lockfile", "functions/comment", "functions/comment/notes", "functions/comment/notices", "functions/comment/planname", "functions/comment/reasons", "functions/comment/rulings", "functions/pipeline", "functions/pipeline/internal/admission", "functions/pipeline/jobs", "functions/pipeline/runs", "functions/places", "functions/project", "functions/project/order", "github"},
	"functions/pipeline/internal/pacing":               {},
	"functions/pipeline/internal/openplans":            {"functions/pipeline", "functions/pipeline/internal/ledger", "functions/pipeline/runs"},
	"functions/pipeline/internal/rechecking":           {"functions/pipeline/internal/admission", "functions/comment", "functions/comment/markdown", "functions/pipeline", "functions/pipeline/evidence", "functions/pipeline/jobs", "functions/pipeline/internal/ledger", "functions/pipeline/internal/openplans", "functions/pipeline/internal/planrun", "functions/pipeline/internal/report", "functions/pipeline/runs", "github", "functions/comment/reasons", "functions/pipeline/internal/foreseeing", "functions/pipeline/internal/hooking"},
	"functions/pipeline/internal/planrun":              {"functions/project/requirements", "functions/pipeline/internal/admission", "functions/comment/notes", "engine/walk", "functions/comment", "functions/comment/markdown", "functions/comment/grammar", "functions/pipeline", "functions/pipeline/evidence", "functions/pipeline/jobs", "functions/pipeline/internal/ledger", "functions/pipeline/internal/openplans", "functions/pipeline/internal/report", "functions/pipeline/runs", "functions/pipeline/internal/stopping", "functions/places", "functions/project", "github", "engine/plans/counting", "functions/comment/reasons", "functions/pipeline/internal/hooking", "functions/project/endpoints", "functions/pipeline/internal/foreseeing", "functions/project/order"},
	"functions/pipeline/internal/checking":             {"functions/comment", "functions/project", "github"},
	"functions/pipeline/internal/report":               {"functions/pipeline/internal/factfinding", "functions/comment/notes", "functions/comment", "functions/comment/rulings", "functions/comment/markdown", "functions/pipeline", "functions/pipeline/internal/checking", "functions/project", "functions/pipeline/evidence", "functions/pipeline/internal/ledger", "functions/pipeline/runs", "github", "functions/comment/reasons"},
	"functions/modules/buckets":                        {"engine/config/...", "engine/hosts"},
	"functions/workdir":                                {"functions/internal/encrypting", "statebackend/...", "engine/..."},
	"functions/pipeline/internal/sealing":              {"functions/internal/encrypting", "functions/project", "engine/budget", "engine/config/...", "engine/diags"},
	"functions/internal/encrypting":                    {"engine/config", "engine/diags", "engine/parsing", "statebackend/encryption"},
	"functions/operation":                              {"functions/workdir", "statebackend", "statebackend/journal", "statebackend/leasing", "engine/..."},
	"functions/comment/notices":                        {"functions/comment/markdown"},
	"functions/comment/notes":                          {"functions/comment/markdown"},
	"functions/comment/rulings":                        {"functions/comment/markdown"},
	"functions/comment/markdown":                       {"functions/comment/grammar"},
	"functions/project/requirements":                   {"functions/project/endpoints", "functions/project/internal/blocks"},
	"functions/pipeline/gates":                         {"functions/comment/rulings", "functions/project/requirements"},
	"functions/pipeline/internal/factfinding":          {"functions/pipeline", "functions/pipeline/gates", "functions/project/requirements", "github", "functions/comment", "functions/comment/grammar"},
	"functions/pipeline/lambdatest/internal/codebuild": {},
	"functions/pipeline/sharing":                       {"functions/pipeline", "functions/places"},
	"functions/pipeline/roster":                        {"functions/pipeline/intake", "functions/pipeline/sharing"},
	"functions/pipeline/internal/gathering":            {"engine/budget", "engine/config", "engine/config/inputs", "engine/diags", "engine/marks", "engine/parsing", "engine/provider/builtin", "engine/states", "functions/pipeline/jobs", "functions/places", "functions/project/links"},
	"functions/pipeline/internal/foreseeing":           {"functions/pipeline", "functions/pipeline/evidence", "functions/pipeline/internal/ledger", "functions/pipeline/jobs", "functions/pipeline/runs", "functions/project/order", "github"},

	"functions/project/environments":      {"functions/project/grammar", "functions/project/internal/blocks"},
	"functions/project/atlantis":          {"engine/parsing", "functions/project/grammar", "functions/project/requirements"},
	"functions/project/grammar":           {},
	"functions/pipeline/lambdatest/bombs": {},

	"github/githubtest":                               {"github", "github/githubtest/apps", "github/githubtest/internal/commits", "github/githubtest/internal/hooks", "github/githubtest/rest"},
	"github/githubtest/apps":                          {"github/githubtest/rest"},
	"github/githubtest/internal/commits":              {"github/githubtest/rest"},
	"github/githubtest/internal/hooks":                {"github", "github/githubtest/rest"},
	"github/githubtest/rest":                          {},
	"functions/pricing":                               {},
	"functions/pipeline/lambdatest/internal/metering": {"functions/pricing"},

	"statebackend/encryption":       {"statebackend"},
	"statebackend/kms":              {"statebackend", "statebackend/encryption", "statebackend/s3"},
	"statebackend/kms/kmstest":      {},
	"statebackend/http":             {"statebackend"},
	"statebackend/inmem":            {"statebackend"},
	"statebackend/local":            {"statebackend"},
	"statebackend/s3":               {"statebackend/..."},
	"statebackend/dynamodb":         {"statebackend"},
	"statebackend/journal":          {"statebackend"},
	"statebackend/leasing":          {"statebackend"},
	"statebackend/lockfile":         {"statebackend"},
	"statebackend/statebackendtest": {"statebackend"},

	"engine/journaling":                    {"engine/plans", "engine/states", "engine/states/statefile", "engine/internal/jsonscan", "engine/addrs", "engine/marks"},
	"engine":                               {"engine/..."},
	"engine/internal/validating":           {"engine/addrs", "engine/config", "engine/internal/traversals", "engine/diags", "engine/eval", "engine/marks", "engine/provider", "engine/provisioning", "engine/refs", "engine/schema", "engine/internal/session", "engine/walk"},
	"engine/graphs":                        {"engine/addrs", "engine/config", "engine/plans", "engine/refs", "engine/states"},
	"engine/generating":                    {"engine/addrs", "engine/marks", "engine/schema"},
	"engine/internal/planning":             {"engine/internal/planning/importing", "engine/internal/planning/drafts", "engine/addrs", "engine/config", "engine/internal/dependencies", "engine/diags", "engine/eval", "engine/marks", "engine/plans", "engine/provider", "engine/refs", "engine/schema", "engine/internal/session", "engine/states", "engine/walk"},
	"engine/internal/planning/importing":   {"engine/addrs", "engine/config", "engine/internal/traversals", "engine/diags", "engine/eval", "engine/events", "engine/generating", "engine/marks", "engine/internal/planning/drafts", "engine/plans", "engine/provider", "engine/schema", "engine/internal/session", "engine/states"},
	"engine/internal/applying":             {"engine/journaling", "engine/internal/dependencies", "engine/provisioning", "engine/internal/session", "engine/walk", "engine/internal/order", "engine/eval", "engine/provider", "engine/plans", "engine/states", "engine/schema", "engine/refs", "engine/config", "engine/addrs", "engine/diags", "engine/marks", "engine/events"},
	"engine/internal/session":              {"engine/addrs", "engine/budget", "engine/config", "engine/diags", "engine/eval", "engine/events", "engine/jsonvalues", "engine/marks", "engine/plans", "engine/provider", "engine/refs", "engine/schema", "engine/states", "engine/walk"},
	"engine/internal/dependencies":         {"engine/addrs", "engine/config", "engine/plans", "engine/refs", "engine/states"},
	"engine/internal/planning/drafts":      {"engine/addrs", "engine/diags", "engine/events", "engine/plans", "engine/states", "engine/eval", "engine/internal/session"},
	"engine/provisioning":                  {"engine/schema", "engine/diags"},
	"engine/render":                        {"engine/plans/comparing", "engine/render/internal/difference", "engine/render/formats", "engine/plans", "engine/states", "engine/schema", "engine/config", "engine/addrs", "engine/diags", "engine/marks", "engine/events", "engine/plans/counting"},
	"engine/render/formats":                {"engine/plans", "engine/states", "engine/schema", "engine/config", "engine/addrs", "engine/diags", "engine/marks"},
	"engine/render/rendertest":             {"engine/plans", "engine/states/...", "engine/schema", "engine/addrs", "engine/marks"},
	"engine/internal/order":                {"engine/plans", "engine/addrs"},
	"engine/eval":                          {"engine/internal/converting", "engine/budget", "engine/refs", "engine/config", "engine/addrs", "engine/diags", "engine/marks"},
	"engine/refs":                          {"engine/addrs", "engine/config", "engine/diags"},
	"engine/config":                        {"engine/config/source", "engine/internal/converting", "engine/addrs", "engine/diags"},
	"engine/internal/traversals":           {"engine/parsing", "engine/addrs", "engine/diags"},
	"engine/config/decoding":               {"engine/config", "engine/internal/traversals", "engine/internal/converting", "engine/parsing", "engine/addrs", "engine/diags"},
	"engine/config/testfiles":              {"engine/config", "engine/config/decoding", "engine/config/loading", "engine/config/source", "engine/internal/traversals", "engine/addrs", "engine/diags"},
	"engine/config/inputs":                 {"engine/config", "engine/parsing", "engine/diags"},
	"engine/config/loading":                {"engine/config", "engine/config/decoding", "engine/config/source", "engine/parsing", "engine/budget", "engine/addrs", "engine/diags"},
	"engine/config/internal/configtest":    {"internal/golden", "engine/diags"},
	"engine/jsonvalues":                    {"engine/internal/jsonscan"},
	"engine/internal/jsonscan":             {},
	"engine/render/internal/difference":    {"engine/plans", "engine/schema", "engine/marks"},
	"engine/internal/differential":         {},
	"engine/internal/growth":               {"engine/budget"},
	"engine/parsing":                       {"engine/internal/converting", "engine/budget", "engine/internal/growth", "engine/marks"},
	"engine/config/early":                  {"engine/budget", "engine/config", "engine/config/inputs", "engine/config/loading", "engine/funcs", "engine/addrs", "engine/marks"},
	"engine/config/source/getting":         {"engine/hosts", "engine/config/source"},
	"engine/config/source/sourcetest":      {},
	"engine/config/containing":             {"engine/parsing"},
	"engine/config/source/installing":      {"engine/budget", "engine/config/...", "engine/constraint", "engine/diags", "engine/hosts"},
	"engine/events":                        {"engine/plans", "engine/addrs"},
	"engine/plans":                         {"engine/states", "engine/schema", "engine/addrs", "engine/plans/counting"},
	"engine/plans/counting":                {},
	"engine/plans/comparing":               {"engine/jsonvalues", "engine/plans", "engine/states", "engine/schema", "engine/addrs", "engine/marks"},
	"engine/plans/planfile":                {"engine/jsonvalues", "engine/plans", "engine/states/...", "engine/schema", "engine/addrs", "engine/marks"},
	"engine/states":                        {"engine/addrs"},
	"engine/states/statefile":              {"engine/internal/jsonscan", "engine/states", "engine/addrs", "engine/marks"},
	"engine/schema":                        {"engine/jsonvalues", "engine/parsing", "engine/internal/converting", "engine/budget", "engine/diags", "engine/marks"},
	"engine/internal/schematest":           {"engine/schema", "engine/marks"},
	"engine/funcs":                         {"engine/internal/converting", "engine/budget", "engine/parsing", "engine/marks"},
	"engine/provider":                      {"engine/schema", "engine/addrs", "engine/diags"},
	"engine/provider/process":              {"engine/provider", "engine/provider/internal/tfplugin", "engine/provider/internal/tfplugin5", "engine/provider/internal/tfplugin6", "engine/schema"},
	"engine/provider/internal/tfplugin":    {"engine/provider", "engine/schema", "engine/diags"},
	"engine/provider/internal/tfplugin5":   {"engine/provider/internal/tfplugin", "engine/schema"},
	"engine/provider/internal/tfplugin6":   {"engine/provider/internal/tfplugin", "engine/schema"},
	"engine/provider/builtin":              {"engine/parsing", "engine/provider", "engine/schema", "engine/diags"},
	"engine/provider/providertest":         {"engine/provider/...", "engine/schema", "engine/diags"},
	"engine/hosts":                         {},
	"engine/provider/install":              {"engine/hosts", "engine/constraint", "engine/provider/install/...", "engine/addrs", "engine/diags"},
	"engine/provider/install/cliconfig":    {"engine/hosts", "engine/addrs", "engine/diags"},
	"engine/provider/install/lockfile":     {"engine/parsing", "engine/constraint", "engine/addrs", "engine/diags"},
	"engine/provider/install/registrytest": {},

	"engine/provider/install/ranged":           {"engine/hosts"},
	"functions/pipeline/internal/remotestates": {"engine/addrs", "engine/config", "engine/marks", "engine/plans", "engine/provider", "engine/provider/builtin", "engine/states", "functions/places", "functions/workdir", "statebackend/..."},
}

// only says which packages may import a library; all others may not.
var only = map[string][]string{
	"github.com/aws/":                     {"statebackend/...", "functions/...", "cmd/...", "infra/..."},
	"github.com/google/go-github/":        {"github/..."},
	"github.com/hashicorp/go-plugin":      {"engine/provider/..."},
	"github.com/hashicorp/go-getter":      {"engine/config/source/getting", "functions/modules/buckets", "functions/pipeline/modules"},
	"google.golang.org/grpc":              {"engine/provider/..."},
	"github.com/hashicorp/terraform-exec": {},
}

// matches reports whether a directory is one of the patterns.
func matches(dir string, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		if prefix, ok := strings.CutSuffix(p, "..."); ok {
			return strings.HasPrefix(dir+"/", prefix)
		}
		return dir == p
	})
}

// TestImports holds the directions of dependency. Tests may import what they like.
func TestImports(t *testing.T) {
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", module+"...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	seen := 0
	used := map[string]map[string]bool{}
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		seen++
		dir := strings.TrimPrefix(p.ImportPath, module)
		used[dir] = map[string]bool{}
		for _, imp := range p.Imports {
			ours, ok := strings.CutPrefix(imp, module)
			for _, pattern := range allowed[dir] {
				if ok && matches(ours, []string{pattern}) {
					used[dir][pattern] = true
				}
			}
			if ok && !matches(ours, allowed[dir]) {
				t.Errorf("%s imports %s: the table in imports_test.go does not allow that direction", dir, ours)
			}
			for library, users := range only {
				if strings.HasPrefix(imp, library) && !matches(dir, users) {
					t.Errorf("%s imports %s, which only %v may", dir, imp, users)
				}
			}
			if imp == "C" {
				t.Errorf("%s uses cgo", dir)
			}
		}
	}
	for dir, patterns := range allowed {
		for _, pattern := range patterns {
			if !used[dir][pattern] {
				t.Errorf("%s does not import %s: remove the permission", dir, pattern)
			}
		}
	}
	if seen < 20 {
		t.Fatalf("only %d packages were looked at", seen)
	}
}
