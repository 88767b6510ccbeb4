//go:build !unix

package main

import "os"

// memory returns 0: the system does not tell the largest memory of a process.
func memory(*os.ProcessState) float64 { return 0 }
