package controller

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
)

// runningConfig is the effective configuration that /configz shows, including defaults. It contains nothing from the
// kubeconfig.
type runningConfig struct {
	Version            string          `json:"version"`
	ManagedBy          string          `json:"managedBy"`
	ReplaceBuiltin     bool            `json:"replaceBuiltin"`
	Namespaces         []string        `json:"namespaces"` // empty for all
	FeatureGates       map[string]bool `json:"featureGates"`
	ConcurrentJobSyncs int             `json:"concurrentJobSyncs"`
	KubeAPIQPS         float32         `json:"kubeAPIQPS"`
	KubeAPIBurst       int             `json:"kubeAPIBurst"`
	BatchPeriod        metav1.Duration `json:"batchPeriod"`
	PodBackoffBase     metav1.Duration `json:"podBackoffBase"`
	PodBackoffMax      metav1.Duration `json:"podBackoffMax"`
	MaxUncountedPods   int             `json:"maxUncountedPods"`
	MaxPodChanges      int             `json:"maxPodChanges"`
	Shards             int             `json:"shards"`
	LeaderElection     *runningLease   `json:"leaderElection,omitempty"`
}

type runningLease struct {
	Identity      string          `json:"identity"`
	Namespace     string          `json:"namespace"`
	Name          string          `json:"name"`
	LeaseDuration metav1.Duration `json:"leaseDuration"`
	RenewDeadline metav1.Duration `json:"renewDeadline"`
	RetryPeriod   metav1.Duration `json:"retryPeriod"`
}

func (o *Options) runningConfig() runningConfig {
	c := o.config.WithDefaults()
	e := runningConfig{
		Version: cmdutil.CurrentVersion().Version, ManagedBy: c.ManagedBy, ReplaceBuiltin: c.ReplaceBuiltin, Namespaces: c.Namespaces,
		FeatureGates: map[string]bool{}, ConcurrentJobSyncs: c.Workers, KubeAPIQPS: o.qps, KubeAPIBurst: o.burst,
		BatchPeriod:    metav1.Duration{Duration: c.BatchPeriod},
		PodBackoffBase: metav1.Duration{Duration: c.Limits.Backoff.Base}, PodBackoffMax: metav1.Duration{Duration: c.Limits.Backoff.Max},
		MaxUncountedPods: c.Limits.MaxUncounted, MaxPodChanges: c.Limits.MaxPodChanges, Shards: o.shards,
	}
	for gate := range o.gates.GetAll() {
		e.FeatureGates[string(gate)] = o.gates.Enabled(gate)
	}
	if l := o.election; l != nil {
		e.LeaderElection = &runningLease{
			Identity: l.Identity, Namespace: l.Namespace, Name: l.Name, LeaseDuration: metav1.Duration{Duration: l.LeaseDuration},
			RenewDeadline: metav1.Duration{Duration: l.RenewDeadline}, RetryPeriod: metav1.Duration{Duration: l.RetryPeriod},
		}
	}
	return e
}
