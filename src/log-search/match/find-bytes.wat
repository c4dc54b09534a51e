;; Finds a needle in this module's memory, 16 starting positions at a time (SIMD). find-bytes.ts owns the memory.
;; Three bytes of the needle are compared first: its last, and two before it, which differ most between card ids.
(module
  (memory (export "memory") 18)

  ;; at: the first starting position; end: behind the last one; n: length of the needle, which is at address 0.
  ;; Reads up to n + 15 bytes behind end. Returns the position of the first occurrence, -1 when there is none.
  (func (export "find") (param $at i32) (param $end i32) (param $n i32) (result i32)
    (local $p i32) (local $q i32) (local $r i32)
    (local $bytesP v128) (local $bytesQ v128) (local $bytesR v128)
    (local $candidates i32) (local $candidate i32) (local $i i32)
    (local.set $p (i32.sub (local.get $n) (i32.const 1)))
    (local.set $q (select (i32.sub (local.get $n) (i32.const 3)) (i32.const 0) (i32.ge_u (local.get $n) (i32.const 3))))
    (local.set $r (select (i32.sub (local.get $n) (i32.const 6)) (i32.const 0) (i32.ge_u (local.get $n) (i32.const 6))))
    (local.set $bytesP (v128.load8_splat (local.get $p)))
    (local.set $bytesQ (v128.load8_splat (local.get $q)))
    (local.set $bytesR (v128.load8_splat (local.get $r)))
    (block $none
      (loop $sixteen
        (br_if $none (i32.ge_u (local.get $at) (local.get $end)))
        (local.set $candidates (i8x16.bitmask (v128.and
          (v128.and
            (i8x16.eq (v128.load align=1 (i32.add (local.get $at) (local.get $p))) (local.get $bytesP))
            (i8x16.eq (v128.load align=1 (i32.add (local.get $at) (local.get $q))) (local.get $bytesQ)))
          (i8x16.eq (v128.load align=1 (i32.add (local.get $at) (local.get $r))) (local.get $bytesR)))))
        (block $checked
          (loop $check
            (br_if $checked (i32.eqz (local.get $candidates)))
            (local.set $candidate (i32.add (local.get $at) (i32.ctz (local.get $candidates))))
            (br_if $none (i32.ge_u (local.get $candidate) (local.get $end)))
            (local.set $candidates
              (i32.and (local.get $candidates) (i32.sub (local.get $candidates) (i32.const 1))))
            (local.set $i (i32.const 0))
            (block $differs
              (loop $same
                (br_if $differs (i32.ne
                  (i32.load8_u (i32.add (local.get $candidate) (local.get $i)))
                  (i32.load8_u (local.get $i))))
                (local.set $i (i32.add (local.get $i) (i32.const 1)))
                (br_if $same (i32.lt_u (local.get $i) (local.get $n))))
              (return (local.get $candidate)))
            (br $check)))
        (local.set $at (i32.add (local.get $at) (i32.const 16)))
        (br $sixteen)))
    (i32.const -1)))
