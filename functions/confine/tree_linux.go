package confine

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A task identifies a process. The kernel reuses process numbers. Together with the start time of the process,
// in ticks since the machine started, the number is unique.
type task struct {
	pid   int
	start uint64
}

// A usage is a process, with the resources that it has used so far.
type usage struct {
	task
	zombie bool
	group  int
	cpu    time.Duration // its own, and that of ended children that it has waited for
	memory int64         // in bytes, without memory shared with files
}

// ticks is the number of ticks a second in /proc, on every machine.
// Source: proc(5), "sysconf(_SC_CLK_TCK)"
const ticks = 100

// look returns the usage of a process; false if the process does not exist.
// Source: proc(5), /proc/PID/stat
func look(pid int) (usage, bool) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	end := bytes.LastIndexByte(data, ')') // the name before it may contain anything
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

// memoryOf returns the memory of a process in bytes, without memory shared with files.
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

// childrenOf returns the process numbers of the children of all threads of a process.
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

// descendants returns all descendants of a process, including ended ones that nobody has waited for. With a max
// other than 0 it stops soon after max processes, because processes may multiply faster than they are counted.
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

// looks is the number of searches in a row that have to find no process, before killBelow ends. When a thread
// ends, the kernel gives its children to another thread of the process, which the search may already have
// passed.
// Source: proc(5), /proc/PID/task/TID/children
const looks = 3

// killBelow kills all descendants of a process until none is alive, and reports whether it succeeded. The
// process must adopt its orphans, otherwise they are not found.
//
// It first stops whole process groups, which the kernel does at once, however fast they multiply. Then it kills
// each process after its own descendants. If a process ended first because its child ended, its other
// descendants would escape.
func killBelow(pid int, limit time.Duration) bool {
	own, _ := look(pid)
	stopped := map[task]bool{}
	none := 0 // times in a row
	for end := time.Now().Add(limit); ; {
		all := slices.DeleteFunc(descendants(pid, 0), func(u usage) bool { return u.zombie })
		if len(all) > 0 {
			none = 0
		} else if none++; none == looks {
			return true
		}
		if time.Now().After(end) {
			return false
		}
		if stopNew(all, stopped, own.group, pid == os.Getpid()) {
			continue // new processes may have appeared
		}
		for _, u := range slices.Backward(all) {
			syscall.Kill(u.pid, syscall.SIGKILL)
		}
		time.Sleep(time.Millisecond)
	}
}

// stopNew stops the processes that are not in stopped, with their groups, and reports whether there were any.
// If ours is set, it does not stop the process group own, which contains this process.
func stopNew(all []usage, stopped map[task]bool, own int, ours bool) (found bool) {
	groups := map[int]bool{}
	for _, u := range all {
		if stopped[u.task] {
			continue
		}
		found, stopped[u.task] = true, true
		if u.group > 1 && !groups[u.group] && (u.group != own || !ours) {
			groups[u.group] = true
			syscall.Kill(-u.group, syscall.SIGSTOP)
		}
		syscall.Kill(u.pid, syscall.SIGSTOP)
	}
	return found
}

// kill kills the process, unless another process has its number now.
func (t task) kill() {
	if u, ok := look(t.pid); ok && u.task == t && !u.zombie {
		syscall.Kill(t.pid, syscall.SIGKILL)
	}
}
