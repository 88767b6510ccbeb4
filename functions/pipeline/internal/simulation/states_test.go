package simulation

import (
	"fmt"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// inBucket reports whether the states are in S3, as in eight of thirteen histories: the records about such a state are named by its
// address, those about a local one by its project.
func (s *simulation) inBucket() bool { return s.seed%13 >= 5 && !s.length.local }

// backend is the file of a directory that names its state, whose key is that of the directory that the project had at first.
func (s *simulation) backend(dir string) string {
	if !s.inBucket() {
		return "terraform {\n  backend \"local\" {\n  }\n}\n"
	}
	return backendAt(origin(dir))
}

// backendAt is the file of a directory whose state has a key.
func backendAt(key string) string {
	return fmt.Sprintf("terraform {\n  backend \"s3\" {\n    bucket = \"states\"\n    key    = %q\n    region = \"eu-west-1\"\n  }\n}\n", key)
}

// stateOf names the state that a job is granted: by its key in the bucket, or by the directory of its project.
func stateOf(j jobs.Job) string {
	if key, ok := strings.CutPrefix(j.State.String(), "s3://states/"); ok {
		return key
	}
	return j.Dir
}

// renaming reports whether people give projects other directories, and with them other names: those in S3 keep their states.
func (s *simulation) renaming() bool { return s.removing() && s.inBucket() }

// origin is the directory that a project had at first, by which its state is known.
func origin(dir string) string { return "p" + dir[1:] }

// twin is the other directory of a project.
func twin(dir string) string {
	if dir == origin(dir) {
		return "q" + dir[1:]
	}
	return origin(dir)
}

// places are the directories that projects may be in.
func (s *simulation) places() (dirs []string) {
	for i := range projects {
		if dirs = append(dirs, dirOf(i)); s.renaming() {
			dirs = append(dirs, twin(dirOf(i)))
		}
	}
	return dirs
}

// renamed reports whether a pull request brings the project of a directory to its other one.
func renamed(before, after githubtest.Files, dir string) bool {
	return hold(before, dir) && !hold(after, dir) && hold(after, twin(dir))
}

// rename brings the project of a directory, at a commit, to its other one, with or without a change.
func (s *simulation) rename(at githubtest.Files, dir string) githubtest.Files {
	edit := githubtest.Files{}
	for name, content := range at {
		if rest, ok := strings.CutPrefix(name, dir+"/"); ok {
			edit[name], edit[twin(dir)+"/"+rest] = githubtest.Deleted, content
		}
	}
	if s.IntN(2) == 0 {
		edit[twin(dir)+"/d.tf"] = fmt.Sprintf("# d = %d\n", s.IntN(3))
	}
	return edit
}

// kept holds that an apply destroys nothing of a project that its pull request gives another name, or the base branch has by another.
func (s *simulation) kept(j jobs.Job) {
	if !s.renaming() || !j.Options.Destroy {
		return
	}
	before, after := s.repo.Changes(j.Number)
	if renamed(before, after, j.Dir) {
		s.bug("#%d destroys %s, which it gives another name", j.Number, j.Dir)
	}
	if tip := s.repo.Files(s.repo.Head("main")); !hold(tip, j.Dir) && hold(tip, twin(j.Dir)) {
		s.bug("#%d destroys %s, which the base branch has by another name", j.Number, j.Dir)
	}
}
