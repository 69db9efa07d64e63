// Package beside compares our controller with the real built-in one, on random Jobs. Each Job exists twice in one cluster,
// once for each controller, and the test carries out the same steps on both: as the kubelet it starts, ends and removes
// pods, as a user it edits the Job, as an administrator it deletes nodes and restarts our controller. After each step, both
// Jobs must settle in the same state (differences.State), or a documented difference must explain theirs.
//
// The cluster has a real etcd, kube-apiserver and kube-controller-manager, and no kubelet, scheduler or kwok: a pod that is
// being deleted ends when a step says so. Our controller is the real program: one process, one that steps kill and restart,
// two that elect a leader, two that share the namespaces (--shards), and one that replaces the built-in controller in a
// cluster of its own (--replace-builtin). The Jobs come from test/virtual/oracle/cases.
//
//	make differential                  10 minutes of random pairs
//	make differential PAIRS=500        so many pairs
//	go test -tags builtin ./test/virtual/oracle/beside -v -first 4711 -seeds 1     one pair
//
// The API does not promise how fast a controller reacts. A state counts as settled when nothing has changed for a while, and
// when each controller has reacted to a change of another Job, its pulse, that was made after the last change: on a busy
// machine, a run takes longer. A pair with different states is played again from the beginning; it counts if the states
// differ again.
package beside
