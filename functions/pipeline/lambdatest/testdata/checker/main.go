// Command checker is a tool of a step. It refuses configurations with the word "forbidden" in the directory that it is
// given, and tries to reach what a step must not reach.
package main

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"
)

func main() {
	for _, kv := range os.Environ() {
		if strings.HasPrefix(kv, "AWS_") || strings.HasPrefix(kv, "LOCKSTEP_") {
			fmt.Fprintln(os.Stderr, "reached", kv)
			os.Exit(3)
		}
	}
	if c, err := net.DialTimeout("tcp", "127.0.0.1:9001", time.Second); err == nil || !strings.Contains(err.Error(), "permission denied") {
		fmt.Fprintln(os.Stderr, "reached the network", c, err)
		os.Exit(3)
	}
	files, err := filepath.Glob(filepath.Join(os.Args[1], "*.tf"))
	if err != nil || len(files) == 0 {
		fmt.Fprintln(os.Stderr, "no files", err)
		os.Exit(3)
	}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil || strings.Contains(string(data), "forbidden") {
			fmt.Fprintln(os.Stderr, filepath.Base(f), "has a forbidden word", err)
			os.Exit(2)
		}
	}
	fmt.Println(len(files), "files are good")
}
