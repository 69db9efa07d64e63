package requirements

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// named matches an id, or a range of ids, that is not part of a word: family, number, last number.
var named = regexp.MustCompile(`(?:^|[^A-Za-z0-9])(?:([A-Z]{3}|D)-([0-9]{2})|([SL])([0-9]{1,2}))` +
	`(?:(?:\.\.|–| to )(?:[A-Z]{3}-|[SLD]-?)?([0-9]{1,2}))?(?:$|[^A-Za-z0-9])`)

// idsIn returns the ids in a line: BLI-07, S12, and all ids of a range: BLI-06..08, BLI-06 to BLI-08, S1–S12.
func idsIn(line string) []string {
	var ids []string
	for m := named.FindStringSubmatchIndex(line); m != nil; m = named.FindStringSubmatchIndex(line) {
		group := func(n int) string {
			if m[2*n] < 0 {
				return ""
			}
			return line[m[2*n]:m[2*n+1]]
		}
		first, _ := strconv.Atoi(group(2) + group(4))
		last, _ := strconv.Atoi(group(5))
		for number := first; number <= max(first, last); number++ {
			if short := group(3); short != "" {
				ids = append(ids, short+strconv.Itoa(number))
			} else {
				ids = append(ids, fmt.Sprintf("%s-%02d", group(1), number))
			}
		}
		line = line[max(m[5], m[9], m[11]):]
	}
	return ids
}

func TestIDsAreFoundInEveryForm(t *testing.T) {
	for line, want := range map[string]string{
		"// BLI-07, JOB-39: why (D-39, S12).":      "BLI-07 JOB-39 D-39 S12",
		"STV-01..03":                               "STV-01 STV-02 STV-03",
		"CLI-01 to 03 and CLI-05 to CLI-06":        "CLI-01 CLI-02 CLI-03 CLI-05 CLI-06",
		"S1–S3, S5..S6 and L2":                     "S1 S2 S3 S5 S6 L2",
		"JOB-18 to 137, BLI-22 to 160 s":           "JOB-18 BLI-22",
		"`MGB-09`|MGB-10":                          "MGB-09 MGB-10",
		"MGB-09 to 08":                             "MGB-09",
		"é JOB-39":                                 "JOB-39",
		"UTF-8 P-256 SHA-256 AJOB-39 JOB-391 S123": "",
		"JOB-39a xS1 S1x FOO_BAR S L D- JOB-":      "",
	} {
		assert.Equal(t, strings.Join(idsIn(line), " "), want, line)
	}
}
