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

// A task identifies a process. The kernel uses a process ID again once its process has ended. Together with the
// start time, in ticks since the machine started, the ID is unique.
type task struct {
	pid   int
	start uint64
}

// A usage is a process and the resources that it has used so far.
type usage struct {
	task
	zombie bool
	group  int
	cpu    time.Duration // CPU time of the process, and of the ended children for which it has waited
	memory int64         // in bytes, without memory shared with files
}

// ticks is the number of ticks in a second, for the times in /proc. It is the same on every machine.
// Source: proc(5), "sysconf(_SC_CLK_TCK)"
const ticks = 100

// look returns the resources that a process has used. It returns false if the process does not exist.
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

// memoryOf returns the memory of a process in bytes. It does not include memory that is shared with files.
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

// descendants returns all descendants of the process pid, including those that have ended but were not waited
// for. If max is not 0, it stops soon after max processes: processes may multiply faster than they are counted.
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

// looks is how often in a row killBelow must find no process before it ends. When a thread ends, the kernel
// gives the thread's children to another thread of the process. A single search may have passed that thread
// already.
// Source: proc(5), /proc/PID/task/TID/children
const looks = 3

// killBelow kills all descendants of a process until none is alive. It returns false if that takes longer than
// limit. The process must adopt its orphans, so that they are found.
//
// killBelow first stops whole process groups. The kernel does that at once, however fast the processes
// multiply. Then it kills each process after that process' descendants: a process that loses its children may
// end, and its other descendants would escape.
func killBelow(pid int, limit time.Duration) bool {
	if pid == os.Getpid() && childless() {
		return true
	}
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

// stopNew stops the processes that are not in stopped yet, with their process groups. It reports whether there
// were any. own is the process group of this process. It is not stopped as a group if ours is set.
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

// kill kills the process, unless its process ID now belongs to another process.
func (t task) kill() {
	if u, ok := look(t.pid); ok && u.task == t && !u.zombie {
		syscall.Kill(t.pid, syscall.SIGKILL)
	}
}
