package main

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
)

// result is the result of testing one bug.
type result struct {
	Bug    string `json:"bug"`
	Caught bool   `json:"caught"`
	// By is the package and the test that failed first, or the reason why no test failed.
	By string `json:"by"`
}

// finder returns the package and the test that caught the bug.
func (r result) finder() (pkg, test string) {
	pkg, test, _ = strings.Cut(r.By, ": ")
	return strings.TrimSuffix(strings.TrimPrefix(pkg, "./"), "/..."), test
}

// resultOf returns the result of a bug, if it was planted.
func resultOf(bug string, list []result) (_ result, planted bool) {
	at := slices.IndexFunc(list, func(r result) bool { return r.Bug == bug })
	if at < 0 {
		return result{}, false
	}
	return list[at], true
}

// results are written into a file after each bug, if there is a file.
type results struct {
	file string
	list []result
}

func (r *results) add(one result) error {
	r.list = append(r.list, one)
	if r.file == "" {
		return nil
	}
	text, err := json.MarshalIndent(r.list, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(r.file, append(text, '\n'), 0o600)
}
