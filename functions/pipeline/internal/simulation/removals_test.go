package simulation

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// removing reports whether people remove projects and bring them back, as in two of eleven aimed histories.
func (s *simulation) removing() bool {
	return s.length.aimed && !s.teaming() && (s.seed%11 == 5 || s.seed%11 == 6)
}

// listing is lockstep.hcl in such a history, for the projects in some directories; "" where the directories alone tell.
func (s *simulation) listing(dirs []string) string {
	listed := s.queues() || s.automerges() || s.ordered() || s.seed/11%2 == 0
	text := ""
	for _, dir := range dirs {
		if !listed {
			break
		}
		text += fmt.Sprintf("project %q {\n  dir = %q\n", dir, dir)
		if s.onMerge(dir) {
			text += "  apply = \"merge\"\n"
		}
		if i := slices.IndexFunc(dirs, func(d string) bool { return origin(d) == "p0" }); s.ordered() && origin(dir) == "p1" && i >= 0 {
			text += fmt.Sprintf("  depends_on = [%q]\n", dirs[i])
		}
		text += "}\n"
	}
	if s.automerges() {
		text += "automerge {\n}\n"
	}
	if s.reviewing() {
		text += s.requireReview()
	}
	return text
}

// onMerge reports whether merges alone apply the project in a directory, in such a history.
func (s *simulation) onMerge(dir string) bool {
	switch {
	case s.queues():
		return true
	case s.automerges():
		return false
	case s.ordered():
		return s.seed/5%3 > 1 || s.seed/5%3 > 0 && origin(dir) == "p1"
	}
	return s.seed/11%4 == 0 && origin(dir) == "p1"
}

// hold reports whether files have the project of a directory.
func hold(files githubtest.Files, dir string) bool { return files[dir+"/backend.tf"] != "" }

// holding are the directories of files that have a project.
func (s *simulation) holding(files githubtest.Files) (dirs []string) {
	for _, dir := range s.places() {
		if hold(files, dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// remove makes a change to files of a commit one that somebody would make there: in a project that it has. Some remove a
// project, and some bring one back.
func (s *simulation) remove(at githubtest.Files, edit githubtest.Files) githubtest.Files {
	dirs := s.holding(at)
	delete(edit, "lockstep.hcl") // which is written for the projects that are left
	for name, content := range edit {
		if dir, file, nested := strings.Cut(name, "/"); nested && !slices.Contains(dirs, dir) && slices.Contains(dirs, twin(dir)) {
			delete(edit, name)
			edit[twin(dir)+"/"+file] = content
		}
	}
	absent := func(name string) bool {
		dir, _, nested := strings.Cut(name, "/")
		return nested && !slices.Contains(dirs, dir)
	}
	n := s.IntN(6)
	switch {
	case n < 2 && len(dirs) > 1:
		gone := dirs[n]
		edit = githubtest.Files{}
		for name := range at {
			if strings.HasPrefix(name, gone+"/") {
				edit[name] = githubtest.Deleted
			}
		}
		dirs = slices.Delete(dirs, n, n+1)
	case n < 4 && len(dirs) < projects:
		was := dirs
		dirs = nil
		for _, dir := range s.places() {
			if slices.Contains(was, dir) {
				dirs = append(dirs, dir)
			} else if !slices.Contains(was, twin(dir)) && !slices.Contains(dirs, twin(dir)) && (!s.renaming() || dir != origin(dir) || s.IntN(2) == 0) {
				dirs = append(dirs, dir)
				edit[dir+"/backend.tf"] = s.backend(dir)
				edit[dir+"/a.tf"] = fmt.Sprintf("# a = %d\n", s.IntN(3))
			}
		}
	case n == 4 && s.renaming():
		i := s.IntN(len(dirs))
		edit = s.rename(at, dirs[i])
		dirs[i] = twin(dirs[i])
	}
	for name := range edit {
		if edit[name] != githubtest.Deleted && absent(name) {
			delete(edit, name)
		}
	}
	if text := s.listing(dirs); text != at["lockstep.hcl"] {
		edit["lockstep.hcl"] = text
	}
	if len(edit) == 0 {
		edit["README.md"] = fmt.Sprintf("hello %d\n", s.IntN(100))
	}
	return edit
}

// removed reports whether a pull request removes the project of a directory.
func removed(before, after githubtest.Files, dir string) bool {
	return hold(before, dir) && !hold(after, dir) && !hold(after, twin(dir))
}

// removedElsewhere reports whether another pull request that removes the project of a directory, too, is merged.
func (s *simulation) removedElsewhere(number int, dir string) bool {
	return slices.ContainsFunc(s.repo.Pulls(), func(p githubtest.PullView) bool {
		before, after := s.repo.Changes(p.Number)
		return p.Number != number && p.State == "merged" && removed(before, after, dir)
	})
}

// back holds that an apply does not destroy, for a merged pull request that removed it, a project that the base branch has.
func (s *simulation) back(j jobs.Job) {
	s.kept(j)
	if p, ok := s.view(j.Number); ok && p.State == "merged" && s.removing() && j.Options.Destroy && hold(s.repo.Files(s.repo.Head("main")), j.Dir) {
		s.bug("#%d destroys %s, which the base branch has", j.Number, j.Dir)
	}
}

// orphaned holds that people were told of the objects of a project that the base branch does not have any more: by an issue, or,
// where merges alone apply it, in a comment.
func (s *simulation) orphaned() {
	tip := s.repo.Files(s.repo.Head("main"))
	for i := range projects {
		dir := dirOf(i)
		if hold(tip, dir) || s.renaming() && hold(tip, twin(dir)) || len(s.state(dir).objects) == 0 {
			continue
		}
		told := false
		for _, by := range s.state(dir).by {
			p, _ := s.view(by)
			told = told || p.State != "merged" // the objects are its own, and its comments tell of them
		}
		for _, x := range s.repo.Issues() {
			told = told || x.Author == "lockstep[bot]" && x.Open && (strings.Contains(x.Body, "`"+dir+"`") || strings.Contains(x.Body, "`"+twin(dir)+"`"))
		}
		for _, p := range s.repo.Pulls() {
			for _, c := range s.repo.Comments(p.Number) {
				for _, name := range []string{dir, twin(dir)} {
					told = told || c.Author == "lockstep[bot]" && s.onMerge(dir) && strings.Contains(c.Body, "**This pull request removes the project** `"+name+"`")
				}
			}
		}
		if !told {
			s.bug("the objects of %s are left, and nobody was told", dir)
		}
	}
}
