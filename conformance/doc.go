// Package conformance holds what ikigai says to model providers, and what it
// hears from them, against the clients that the providers publish themselves. It
// is a module of its own, so that these clients and all that they need never come
// near the product; it has nothing but tests, and `make conformance` runs them.
//
// Both directions go through one arrangement: a body of ours is read into the
// vendor's types, sent by the vendor's client to a server on this machine, and
// the answer of that server is read by the vendor's client. What arrives there
// must be our body again, value for value; what the client makes of a recorded
// answer must be what our decoder makes of it.
package conformance
