// Package fidelity compares the virtual API server (sim.Store) with a real one: it makes the same random calls to both,
// and compares each answer, and the stored object after each call.
//
//	make fidelity                              # 10,000 sequences on the newest release
//	make fidelity FIDELITY_SEQUENCES=1000 KUBE_VERSION=v1.36.3
//	go test ./test/virtual/fidelity                    # 200 sequences, and all differences of the past
//	go test ./test/virtual/fidelity -run Replay -replay FILE
//
// A call is a line of text, such as "status job0 active=-1 condition=Failed:True". Sequences have 5 to 30 calls on two
// Jobs and three pods; the generator looks at the objects to choose the next call. A difference is shrunk to the fewest
// calls and arguments that show it, and printed as lines that -replay reads.
//
// Compared are: the code and the reason of an answer, the type and the field of each cause of a 422, and the kind of a
// 409; whether the resourceVersion has changed; and all fields of the object except those in notModeled, with UIDs and
// generated names replaced. Times that servers set may differ by clockTolerance. The real server's object is read from its
// answer, and assumed to be unchanged after an error; at the end of a sequence, all objects are read again.
//
// The virtual API server lacks the following, and the generator does not use it:
//
//   - the pod template beyond its metadata, restart policy, images, and requests of CPU, and the format of those; affinity of
//     suspended Jobs; spec.scheduling
//   - the condition PodScheduled, the QoS class, and the generation of pods; their spec beyond restart policy, node, images,
//     deadline and grace period; statuses of init containers
//   - metadata in a request to /status, which the real server stores, and updates without a resourceVersion
//   - deletions of Jobs with preconditions, or without a propagation policy; propagation policies for pods
//   - bindings of pods that have a node, or that are being deleted, or whose namespace is being deleted
//   - Jobs created without labels: the first write to such a Job stores the labels that the real server adds on reads, and
//     so changes the resourceVersion even if it changes nothing else
//   - patches of pods other than our controller's, and owners with a UID that another owner has
//   - PodDisruptionBudgets, resource quotas, patches of Jobs, server-side apply and managedFields, dry runs
//   - the work of the garbage collector, pod garbage collector and namespace controller: they are not the API server
package fidelity
