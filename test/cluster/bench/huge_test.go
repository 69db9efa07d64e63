//go:build unix

package main

import (
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// hugeResults returns measurements of the part huge.
func hugeResults() results {
	huge := func(s side, seconds float64, status int) bulk {
		b := large(s, seconds, 100, status)
		b.CPU[procOurs], b.Peak[procOurs] = 10, 120e6
		return b
	}
	return results{
		Machine: "A machine", HugePods: 100,
		Huge: bulks{huge(ours, 2.06, 0), huge(builtIn, 3, 2), huge(floor, 2, 0)},
	}
}

// SCL-03, SCL-04, SCL-11: the table shows the measured values beside the targets.
func TestHugeTableHasTargets(t *testing.T) {
	const want = `
|                                                      |   ours | built-in | ours/built-in |  target |    met |     id |
|------------------------------------------------------|-------:|---------:|--------------:|--------:|-------:|-------:|
| 100 indexes: create to Complete, s                   |    2.1 |      3.0 |          0.69 |         |        | SCL-04 |
| 100 indexes: time / floor (2.00 s)                   |  1.030 |    1.500 |          0.69 | <= 1.03 |    yes | SCL-04 |
| 100 indexes: requests per pod, status and events too | 2.0100 |   2.0300 |          0.99 | <= 2.01 |    yes | SCL-03 |
| 100 indexes: CPU of the controller, s                |  10.00 |     1.25 |          8.00 |    < 10 | missed | SCL-04 |
| 100 indexes: CPU of kube-controller-manager, s       |   1.25 |     1.25 |          1.00 |         |        |        |
| 100 indexes: CPU of kube-apiserver, s                |   7.00 |     7.00 |          1.00 |         |        |        |
| 100 indexes: peak RSS of the controller, MB          |    120 |      100 |          1.20 |   < 120 | missed | SCL-11 |
`
	r := newReport(hugeResults())
	assert.Equal(t, "\n"+renderTable(r.Rows), want)
}
