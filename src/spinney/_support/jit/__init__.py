"""The loader of compiled kernels: compiles them once, and stores and runs machine code.

``docs/compiling.md`` says what it trusts; ``SECURITY.md`` has the promise. The modules,
in the order of a call:

===================== ==============================================================
``compile``           the decorators of loops: ``kernel``, ``entry``
``loading_time``      whether kernels are worth loading; a clock without that time
``call_arguments``    the arguments of an entry as words, and the call itself
``code_cache``        machine code on disk, for these very sources and this machine
``trusted_folder``    folders in which nobody else can write
``compilation_record`` a record of ``spinney compile``
``translate``         Numba's steps, but for those that no loop needs
``entry_block``       the first block of an entry, which reads its words
``numba_extensions``  tuples by reference, a prefetch instruction
===================== ==============================================================

The last three import Numba, and are imported only to compile.
"""
