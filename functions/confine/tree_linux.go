package confine

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A task is a process as the kernel numbers it. Numbers are used again; with the time of its
// start, in ticks since the machine's, it is one process for ever.
type task struct {
	pid   int
	start uint64
}

// A usage is what a process has used, and what it is.
type usage struct {
	task
	zombie bool
	group  int
	cpu    time.Duration // its own, and that of children that it has waited for
	memory int64         // bytes that it does not share with files
}

// ticks is how many of the kernel's ticks a second has for programs, on every machine.
// Source: proc(5), "sysconf(_SC_CLK_TCK)"
const ticks = 100

// look reads what is known of a process; false says that there is none.
// Source: proc(5), /proc/PID/stat
func look(pid int) (usage, bool) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	end := bytes.LastIndexByte(data, ')') // the name before it may have anything in it
	if err != nil || end < 0 {
		return usage{}, false
	}
	f := strings.Fields(string(data[end+1:]))
	if len(f) < 20 {
		return usage{}, false
	}
	number := func(i int) uint64 { n, _ := strconv.ParseUint(f[i], 10, 64); return n }
	u := usage{task: task{pid, number(19)}, zombie: f[0] == "Z" || f[0] == "X", group: int(number(2))}
	u.cpu = time.Duration(number(11)+number(12)+number(13)+number(14)) * (time.Second / ticks)
	return u, true
}

// memoryOf returns how many bytes a process does not share with files.
// Source: proc(5), /proc/PID/status
func memoryOf(pid int) int64 {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	var sum int64
	for line := range strings.Lines(string(data)) {
		name, value, _ := strings.Cut(line, ":")
		if name == "RssAnon" || name == "RssShmem" {
			n, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
			sum += n << 10
		}
	}
	return sum
}

// childrenOf returns the numbers of a process' children, whichever of its threads has them.
func childrenOf(pid int) []int {
	threads, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		return nil
	}
	var out []int
	for _, t := range threads {
		data, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", pid, t.Name()))
		if err != nil {
			continue
		}
		for f := range strings.FieldsSeq(string(data)) {
			if n, err := strconv.Atoi(f); err == nil {
				out = append(out, n)
			}
		}
	}
	return out
}

// descendants returns all processes below one, without it, those that have ended and are not
// waited for included; with a max other than 0, not many more than it: they may be made faster
// than they are counted.
func descendants(pid, max int) []usage {
	var out []usage
	seen := map[int]bool{pid: true}
	for next := []int{pid}; len(next) > 0 && (max == 0 || len(out) <= max); {
		at := next[0]
		next = next[1:]
		for _, c := range childrenOf(at) {
			if seen[c] {
				continue
			}
			if seen[c] = true; max > 0 && len(out) > max {
				return out
			}
			if u, ok := look(c); ok {
				out = append(out, u)
				next = append(next, c)
			}
		}
	}
	return out
}

// killBelow kills all descendants of a process until there are none that live, and reports
// whether that is so. Orphans among them have to come to the process, or they are not found.
// Whole groups are signalled, which the kernel does at once, however fast they grow: that of
// the process itself, unless it is we, is stopped, others are killed.
func killBelow(pid int, limit time.Duration) bool {
	own, _ := look(pid)
	for end := time.Now().Add(limit); ; {
		alive := 0
		groups := map[int]bool{}
		for _, u := range descendants(pid, 0) {
			if u.zombie {
				continue
			}
			alive++
			if u.group > 1 && !groups[u.group] {
				groups[u.group] = true
				switch {
				case u.group != own.group:
					syscall.Kill(-u.group, syscall.SIGKILL)
				case pid != os.Getpid():
					syscall.Kill(-u.group, syscall.SIGSTOP)
				}
			}
			syscall.Kill(u.pid, syscall.SIGKILL)
		}
		if alive == 0 {
			return true
		}
		if time.Now().After(end) {
			return false
		}
		time.Sleep(time.Millisecond)
	}
}

// kill kills one process, if its number is still its own.
func (t task) kill() {
	if u, ok := look(t.pid); ok && u.task == t && !u.zombie {
		syscall.Kill(t.pid, syscall.SIGKILL)
	}
}
