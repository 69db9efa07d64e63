package failures

import (
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/eventtext"
)

// KnownError is the error that the container reports by which the pod failed, in its message or its log; nil if none with
// a known meaning is. Something else ended a container that was stopped or killed.
func (f *Failure) KnownError(in *facts.Facts) *explain.KnownError {
	c := f.Container()
	if c == nil || f.Ending() != nil || f.Consequence && !c.Before || c.Reason == explain.OOMKilled || facts.IsStopped(c) {
		return nil
	}
	if known := eventtext.EndErrorIn(c); known != nil {
		return known
	}
	for i := range in.Logs {
		if tail := &in.Logs[i]; tail.Pod == f.Pod.Name && tail.Container == c.Name {
			return eventtext.KnownErrorIn(c.ExitCode, tail.Lines...)
		}
	}
	return nil
}

// maxWitnesses is how many failures of a group are asked for their error: a huge Job may have thousands.
const maxWitnesses = 10

// knownError is the one that the latest failures have in common, as far as they report anything; its subject is "" if it
// differs.
func (g *Group) knownError(in *facts.Facts) *explain.KnownError {
	var common *explain.KnownError
	for i, f := range g.Failures[:min(len(g.Failures), maxWitnesses)] {
		known := f.KnownError(in)
		switch c := f.Container(); {
		case known == nil && i > 0 && (c == nil || c.Message == ""):
		case known == nil, common != nil && known.Kind != common.Kind:
			return nil
		case common == nil:
			common = known
		case known.Subject != common.Subject:
			common = &explain.KnownError{Kind: known.Kind}
		}
	}
	return common
}
