package wording

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
)

const (
	// maxURL is the maximum length of a URL, and maxPath the maximum length of a path, in a shortened message.
	maxURL  = 40
	maxPath = 24
	// maxLastPart is the maximum length of the last part of a URL.
	maxLastPart = 30
)

var (
	url = lazyregexp.New("https?://[^\\s\"'<>()\\[\\]`]+")
	// address matches a URL with what follows it.
	address = lazyregexp.New("https?://([^\\s/\"'<>()]+)[^\\s\"'<>()]*?([:,.;]*(?:[\\s\"']|$))")
	// inCluster matches the domain of a cluster in an address.
	inCluster = lazyregexp.New(`\.svc\.cluster\.local(:\d|/)`)
	scheme    = lazyregexp.New(`\bhttps?://`)
	// request matches a request of Go's HTTP client, which the reason after it makes superfluous.
	request = lazyregexp.New(`\b(?:Get|Head|Post|Put|Patch|Delete) "`)
	// path matches a path, or a name with slashes, of at least four parts.
	path = lazyregexp.New(`(?:[\w+.-]+:/)?[\w.@~+%-]*(?:/[\w.@~+%=…-]+){3,}`)
	// long matches a name of many words, of which it keeps some, and valueOf words that say nothing before a name.
	long    = lazyregexp.New(`\b([a-z]+_)(?:[a-z]+_){3,}?((?:[a-z]+_){0,2}[a-z]+)\b`)
	valueOf = lazyregexp.New("(?i)\\b(?:the )?value of (?:the )?([`'\"])")
	// code matches the number of an error, beside which its text stands.
	code = lazyregexp.New(`(^|[:,] |[Ee]rror:? )\(\d+\) |\[Errno \d+\] |\.? took [\d.]+[nµm]?s\b\.?| \((?:os error \d+|SQLSTATE \w+|errno \d+)\)`)
)

// shortNames shortens what a message names by itself: addresses and names with a domain, and leaves out the numbers of errors.
func shortNames(text string) string {
	text = code.ReplaceAllString(inCluster.ReplaceAllString(text, ".svc$1"), "$1")
	text = url.ReplaceAllStringFunc(text, shortURL)
	return path.ReplaceAllStringFunc(strings.ReplaceAll(text, "~1", "/"), func(name string) string {
		parts := strings.Split(name, "/")
		if !isDomain(parts[0]) || len(parts) < 5 {
			return name
		}
		return strings.Join(append(parts[:3:3], "…", parts[len(parts)-1]), "/")
	})
}

// shortDomains leaves the longest part of a name with a domain, which says the most, and leaves out the middle of names of many words.
func shortDomains(text string) string {
	text = long.ReplaceAllString(valueOf.ReplaceAllString(text, "$1"), "$1…_$2")
	return path.ReplaceAllStringFunc(text, func(name string) string {
		parts := strings.Split(name, "/")
		if !isDomain(parts[0]) {
			return name
		}
		longest := slices.MaxFunc(parts[1:], func(x, y string) int { return cmp.Compare(len(x), len(y)) })
		if longest == parts[len(parts)-1] {
			return "…/" + longest
		}
		return "…/" + longest + "/…"
	})
}

// shortPaths leaves the last parts of paths, and their first folder, which may be a volume.
func shortPaths(text string) string {
	return path.ReplaceAllStringFunc(text, func(name string) string {
		if utf8.RuneCountInString(name) <= maxPath || strings.Contains(name, "://") {
			return name
		}
		return name[:strings.IndexByte(name[1:], '/')+2] + "…" + name[strings.LastIndexByte(name, '/'):]
	})
}

func isDomain(name string) bool { return strings.Contains(strings.Trim(name, "."), ".") }

// shortURL leaves the scheme and the host of a long URL, and the last part of its path.
func shortURL(text string) string {
	address := strings.TrimRight(text, ":,.;")
	scheme, rest, _ := strings.Cut(address, "://")
	host, full, hasPath := strings.Cut(rest, "/")
	if utf8.RuneCountInString(address) <= maxURL || !hasPath {
		return text
	}
	all, _, hasQuery := strings.Cut(full, "?")
	last := all[strings.LastIndexByte(all, '/')+1:]
	switch {
	case utf8.RuneCountInString(last) > maxLastPart || last == "":
		last = "…"
	case last != all:
		last = "…/" + last
	}
	if hasQuery && last != "…" {
		last += "?…"
	}
	return scheme + "://" + host + "/" + last + text[len(address):]
}

// hostsOnly leaves the hosts of URLs.
func hostsOnly(text string) string {
	return strings.ReplaceAll(address.ReplaceAllString(text, "$1$2"), ": dial tcp: ", ": ")
}
