package surveying

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/functions/pipeline/policytrial"
	"github.com/lockstep-iac/lockstep/functions/project"
	"github.com/lockstep-iac/lockstep/functions/project/atlantis"
	"github.com/lockstep-iac/lockstep/functions/project/order"
)

// ConfigCheck is the command config check. It checks the projects and settings in lockstep.hcl. If there is no
// lockstep.hcl, it checks atlantis.yaml.
var ConfigCheck = cli.Command{Name: "config check", Synopsis: "Check lockstep.hcl or atlantis.yaml", Run: func(a *cli.App, args []string) int {
	f := a.NewFlags("config check", "config check")
	if code, ok := f.ParseArgs(args); !ok {
		return code
	}
	if code, ok := f.NoArguments(); !ok {
		return code
	}
	s := look(a)
	code := a.Tell(slices.Concat(s.diags, s.versions, s.unplannable, rehearsal(a, s)))
	if code != 0 {
		return code
	}
	about := s.Settings + " is valid"
	if s.Settings == "" {
		about = "There is no " + project.FileName + ", so the directories decide"
	}
	count := fmt.Sprintf("%d projects", len(s.Projects))
	if len(s.Projects) == 1 {
		count = "1 project"
	}
	fmt.Fprintf(a.Out, "%s: %s.\n", about, count)
	if s.Ignored {
		fmt.Fprintf(a.Out, "There is an %s as well, which does not count.\n", atlantis.FileName)
	}
	waves(a.Out, s.Projects)
	deployments(a.Out, s)
	for _, c := range s.conftests {
		fmt.Fprintf(a.Out, "\n%s is not read. Its settings (%s) belong into the block policy %q of %s: data = [\"DIR\"] has directories, and namespaces = [\"NAME\"] packages, [\"*\"] for all.\n",
			c.File, strings.Join(c.Keys, ", "), c.Policy, s.Settings)
	}
	for _, part := range []struct {
		title   string
		carried bool
	}{{"Without a meaning here", false}, {"Carried over in another form", true}} {
		title := "\n" + part.title + ":\n"
		for _, n := range s.Notices {
			if n.Carried == part.carried {
				fmt.Fprintf(a.Out, "%s  %s\n    %s\n", title, n.Where(), n.Instead)
				title = ""
			}
		}
	}
	return 0
}}

// rehearsal returns the errors in the repository's policies. If such an error is merged, it blocks all applies.
func rehearsal(a *cli.App, s survey) (ds diags.Diagnostics) {
	if s.Settings == "" || s.diags.HasErrors() {
		return nil
	}
	all, err := policytrial.Policies(a.Chdir, s.Settings)
	if err != nil {
		return diags.FromError("The policies cannot be read", err)
	}
	for _, p := range all {
		detail := fmt.Sprintf("On the base branch, the policy %q in %s would hold each apply of its projects:", p.Name, p.Dir)
		for _, m := range p.Mistakes {
			detail += "\n  " + strings.ReplaceAll(m, "\n", "\n  ")
		}
		if p.More > 0 {
			detail += fmt.Sprintf("\n  and %d more", p.More)
		}
		ds = append(ds, diags.Errorf(nil, "Mistakes in a policy", "%s", detail)...)
	}
	return ds
}

// deployments prints which deployment works for which projects, if the settings name deployments. It warns
// about a project that depends on a project of another deployment, because no deployment then ensures the order
// of their applies.
func deployments(w io.Writer, s survey) {
	if s.deployments == nil {
		return
	}
	all := map[string][]string{}
	for _, p := range s.Projects {
		by := s.deployments[p.Name]
		all[by] = append(all[by], p.Name)
	}
	fmt.Fprint(w, "\nDeployments that serve the projects:\n")
	for _, by := range slices.Sorted(maps.Keys(all)) {
		fmt.Fprintf(w, "  %s: %s\n", project.DeploymentName(by), strings.Join(all[by], ", "))
	}
	edges := project.EdgesOf(s.Projects)
	for _, from := range slices.Sorted(maps.Keys(edges)) {
		for _, to := range edges[from] {
			if s.deployments[from] != s.deployments[to] {
				fmt.Fprintf(w, "Nobody holds the order of %s behind %s: another deployment serves it.\n", from, to)
			}
		}
	}
}

// waves prints the order of the applies in a pull request that changes all projects. If all projects can be
// applied at the same time, it prints nothing.
func waves(w io.Writer, all []project.Project) {
	var names []string
	for _, p := range all {
		names = append(names, p.Name)
	}
	waves, ok := order.Waves(project.EdgesOf(all), names)
	if !ok || len(waves) < 2 {
		return
	}
	fmt.Fprint(w, "\nOrder of applies, by depends_on and inputs:\n")
	for i, wave := range waves {
		fmt.Fprintf(w, "  %d. %s\n", i+1, strings.Join(wave, ", "))
	}
	behind := landing(all)
	for _, name := range slices.Sorted(maps.Keys(behind)) {
		fmt.Fprintf(w, "%s is applied on merge, though its own apply is %q: it comes after %s, which is.\n", name, project.OnComment, behind[name])
	}
}

// landing returns the projects that are applied on merge only because they depend, directly or indirectly,
// on a project with `apply = "on_merge"`. It maps the name of each such project to the name of the first
// `on_merge` project that it depends on.
func landing(all []project.Project) map[string]string {
	on := map[string]project.ApplyOn{}
	for _, p := range all {
		on[p.Name] = p.Apply
	}
	edges, out := project.EdgesOf(all), map[string]string{}
	var first func(name string, seen map[string]bool) string
	first = func(name string, seen map[string]bool) string {
		for _, to := range edges[name] {
			if on[to] == project.OnMerge {
				return to
			}
			if !seen[to] {
				seen[to] = true
				if found := first(to, seen); found != "" {
					return found
				}
			}
		}
		return ""
	}
	for _, p := range all {
		if to := first(p.Name, map[string]bool{}); to != "" && p.Apply != project.OnMerge {
			out[p.Name] = to
		}
	}
	return out
}

// timed returns a copy of the projects, in which those that landing returns have `apply = "on_merge"`,
// because they are applied on merge, too.
func timed(all []project.Project) []project.Project {
	all = slices.Clone(all)
	behind := landing(all)
	for i, p := range all {
		if behind[p.Name] != "" {
			all[i].Apply = project.OnMerge
		}
	}
	return all
}
